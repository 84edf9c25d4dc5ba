"""Every program of examples/tutorials/ runs to its end. Their assertions compare results with PyTorch."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BUILD = Path(os.environ["TORCHTRT_BUILD"])
FOLDER = Path(__file__).parents[2] / "examples" / "tutorials"
# Something that a program prints near its end.
LAST = {
    "converter.py": "results agree with PyTorch",
    "cpp_deployment.py": "result of [9, 8]",
    "detection.py": "output[0]",
    "fallback.py": "100% of",
    "first_compile.py": "the loaded module gives the same bytes",
    "gpu.py": "torchtrtc check",
    "half_and_int8.py": "int8 within 1 %",
    "ranges.py": "right all the same",
    "rewrite_pattern.py": "compiled: largest difference",
    "wrong_number.py": "all of them agree",
}


def test_no_tutorial_is_without_a_test():
    assert {path.name for path in FOLDER.glob("*.py")} == set(LAST)


@pytest.mark.parametrize("name", sorted(LAST))
def test_it_runs(name):
    variables = {**os.environ, "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}"}
    process = subprocess.run([sys.executable, FOLDER / name], capture_output=True, text=True, check=False, timeout=600, env=variables)
    assert process.returncode == 0, process.stdout + process.stderr
    assert LAST[name] in process.stdout
