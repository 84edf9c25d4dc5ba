"""Every program of examples/ runs and prints what it promises."""

import os
import subprocess
import sys
from pathlib import Path

import torch

import models
import torchtrt

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


def test_decoder():
    output = run(sys.executable, EXAMPLES / "decoder.py", "--tokens", "16")
    assert "engine, 4 bits: " in output and "1 engine, 0 segments in PyTorch" in output


def test_cpp_compile_and_run(tmp_path):
    module = torch.jit.script(models.build("lenet"))
    source, target = tmp_path / "lenet.ts", tmp_path / "compiled.ts"
    module.save(str(source))
    output = run(BUILD / "bin" / "example_compile_and_run", source, target)
    assert "1 engine" in output
    assert float(output.split("largest difference from PyTorch: ")[1]) < 1e-5
    x = torch.rand(3, 1, 32, 32)
    torch.testing.assert_close(torch.jit.load(str(target))(x), module(x), rtol=1e-4, atol=1e-5)


def test_cpp_load_and_run(tmp_path):
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU()).eval()
    compiled = torchtrt.compile(torch.jit.script(model), inputs=[torchtrt.Input([-1, 4])])
    compiled.save(str(tmp_path / "compiled.ts"))
    program = BUILD / "bin" / "example_load_and_run"
    assert "result of [5, 3]" in run(program, tmp_path / "compiled.ts", 5, 4)
    needed = run("ldd", program)
    assert "libtorchtrt_runtime.so" in needed and "libtorchtrt.so" not in needed


# test_plugins.py builds and runs the plugin, test_profiling.py the metrics, test_tutorials.py the tutorials.
TESTED = {"decoder.py", "demo.py", "int8.py", "metrics.py", "cpp/compile_and_run.cpp", "cpp/load_and_run.cpp", "plugin/shifted_relu.cpp"}


def test_no_example_is_without_a_test():
    programs = {str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*") if path.suffix in (".py", ".cpp")}
    assert {name for name in programs if not name.startswith("tutorials/")} == TESTED
