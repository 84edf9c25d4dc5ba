"""Every sample of README.md is built and run as printed, and so is that of the wheel's README."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import models
from torch_release import OLDEST_CPP

BUILD = Path(os.environ["TORCHTRT_BUILD"])
ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
WHEEL_README = (ROOT / "python" / "README.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{re.escape(language)}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Has lenet.ts, which the samples start from."""
    path = tmp_path_factory.mktemp("readme")
    torch.jit.script(models.build("lenet")).save(str(path / "lenet.ts"))
    return path


def run(command, folder, **options) -> str:
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, **options)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


# The samples leave out the definition of the network.
PRELUDE = "import sys; sys.path[:0] = {paths!r}\nimport models\nLeNet = lambda: models.build('lenet')\n"


def test_python(folder):
    samples = blocks(README, "python")
    assert len(samples) >= 2
    paths = [str(Path(models.__file__).parent)]
    for sample in samples:
        run([sys.executable, "-c", PRELUDE.format(paths=paths) + sample], folder)
    assert (folder / "lenet_compiled.ts").exists()


def test_python_of_the_wheel(folder):
    (sample,) = blocks(WHEEL_README, "python")
    run([sys.executable, "-c", sample], folder)
    assert (folder / "compiled.ts").exists()


def test_cpp(folder):
    torch_folder = Path(torch.__file__).parent
    (sample,) = blocks(README, "c++")
    (folder / "sample.cpp").write_text(sample, encoding="utf-8")
    includes = [f"-I{ROOT / 'include'}", f"-isystem{torch_folder / 'include'}", f"-isystem{torch_folder / 'include/torch/csrc/api/include'}"]
    libraries = [f"-L{BUILD / 'lib'}", "-ltorchtrt", "-ltorchtrt_runtime", "-ltorchtrt_network", "-ltorchtrt_engine",
                 f"-L{torch_folder / 'lib'}", "-ltorch_cpu", "-lc10", "-Wl,--allow-shlib-undefined",
                 f"-Wl,-rpath,{BUILD / 'lib'}:{torch_folder / 'lib'}"]
    run(["ccache", "c++", f"-std={OLDEST_CPP}", *includes, "-c", "sample.cpp", "-o", "sample.o"], folder)
    run(["c++", "sample.o", "-o", "sample", "-Wl,--no-as-needed", *libraries], folder)
    (folder / "lenet_compiled.ts").unlink(missing_ok=True)
    run([folder / "sample"], folder)
    assert torch.jit.load(str(folder / "lenet_compiled.ts"))(torch.zeros(1, 1, 32, 32)).shape == (1, 10)


def commands() -> list[str]:
    """The lines of README that call torchtrtc."""
    return [line.strip() for line in README.splitlines() if line.startswith("    torchtrtc ")]


def test_command_lines(folder):
    environment = {**os.environ, "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}"}
    assert len(commands()) >= 6
    for line in commands():
        run(shlex.split(line, comments=True), folder, env=environment)
