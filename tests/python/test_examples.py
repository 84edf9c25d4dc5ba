"""Every program of examples/ runs and prints what it promises."""

import os
import subprocess
import sys
from pathlib import Path

import torch

import models

BUILD = Path(os.environ["TORCHTRT_BUILD"])
EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*command) -> str:
    process = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, timeout=600)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


def test_demo():
    output = run(sys.executable, EXAMPLES / "demo.py", "--training-epochs", "2", "--build", BUILD)
    for name in ("LeNet, scripted", "EfficientNet-Lite0, traced", "ResNet-50, scripted", "ResNet-50, traced"):
        assert name in output


def test_int8():
    output = run(sys.executable, EXAMPLES / "int8.py", "--training-epochs", "2")
    assert "PyTorch, float32" in output and "int8, MINMAX_CALIBRATION" in output


def test_cpp_compile_and_run(tmp_path):
    module = torch.jit.script(models.build("lenet"))
    source, target = tmp_path / "lenet.ts", tmp_path / "compiled.ts"
    module.save(str(source))
    output = run(BUILD / "bin" / "example_compile_and_run", source, target)
    assert "1 engine" in output
    assert float(output.split("largest difference from PyTorch: ")[1]) < 1e-5
    x = torch.rand(3, 1, 32, 32)
    torch.testing.assert_close(torch.jit.load(str(target))(x), module(x), rtol=1e-4, atol=1e-5)


# tests/python/test_plugins.py builds and runs the plugin, test_profiling.py the metrics.
TESTED = {"demo.py", "int8.py", "metrics.py", "cpp/compile_and_run.cpp", "plugin/shifted_relu.cpp"}


def test_no_example_is_without_a_test():
    programs = {str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*") if path.suffix in (".py", ".cpp")}
    assert programs == TESTED
