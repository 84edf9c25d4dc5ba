"""The wheel in a fresh environment: compiles there, and a process that only runs modules maps no compiler."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

BUILD = Path(os.environ["TORCHTRT_BUILD"])
ROOT = Path(__file__).parents[2]
# Nothing of the build tree is in reach of the fresh environment.
CLEAN = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH")}

COMPILE = """
import sys, torch, torchtrt
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(6 * 15 * 15, 10)).eval()
x = torch.randn(1, 1, 32, 32)
compiled = torchtrt.compile(torch.jit.script(model), inputs=[torchtrt.Input([1, 1, 32, 32])])
assert torchtrt.report(compiled).engine_segments == 1
expected = model(x).detach()
assert (compiled(x) - expected).abs().max() <= 1e-4 * expected.abs().max()
compiled.save(sys.argv[1])
torch.save([x, expected], sys.argv[2])
print(torchtrt.__file__)
"""

RUN = """
import sys, torch, torchtrt.runtime
compiled = torch.jit.load(sys.argv[1])
x, expected = torch.load(sys.argv[2])
assert (compiled(x) - expected).abs().max() <= 1e-4 * expected.abs().max()
maps = open("/proc/self/maps").read()
print("\\n".join(sorted({line.split("/")[-1] for line in maps.splitlines() if "/" in line})))
"""


def run(*command, **options) -> str:
    process = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


@pytest.fixture(scope="module")
def wheel():
    run(ROOT / "dev", "wheel", "--preset", BUILD.name, cwd=ROOT)
    return max((ROOT / "dist").glob("torchtrt-*.whl"), key=lambda path: path.stat().st_mtime)


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """The interpreter of a fresh environment with the wheel installed; torch is lent by a .pth file, since it is 4 GB."""
    folder = tmp_path_factory.mktemp("wheel") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    (packages,) = (folder / "lib").glob("python3*/site-packages")
    (packages / "lent_torch.pth").write_text(sysconfig.get_paths()["platlib"] + "\n", encoding="utf-8")
    interpreter = folder / "bin" / "python"
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", interpreter, "install", "--quiet", "--no-deps",
        "--no-index", wheel, env=CLEAN)
    return interpreter


@pytest.fixture(scope="module")
def saved(python, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    place = run(python, "-c", COMPILE, folder / "compiled.ts", folder / "sample.pt", env=CLEAN, cwd=folder)
    assert Path(place.strip()).is_relative_to(python.parents[1])
    return folder


def test_runtime_alone_maps_no_compiler(python, saved):
    mapped = run(python, "-c", RUN, saved / "compiled.ts", saved / "sample.pt", env=CLEAN, cwd=saved).split()
    ours = {name for name in mapped if "torchtrt" in name}
    assert ours == {"libtorchtrt_engine.so", "libtorchtrt_runtime.so"}


def test_command_line_tool_is_in_the_wheel(python, saved):
    import torch

    (tool,) = python.parents[1].glob("lib/python3*/site-packages/torchtrt/bin/torchtrtc")
    environment = {**CLEAN, "LD_LIBRARY_PATH": str(Path(torch.__file__).parent / "lib")}
    assert "loads, 1 engine" in run(tool, "check", saved / "compiled.ts", env=environment)


def test_wheel_holds_type_stubs_and_licences_and_no_sources(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {"torchtrt/py.typed", "torchtrt/__init__.pyi"} <= set(names)
    assert any(name.endswith("THIRD_PARTY.md") for name in names)
    assert not [name for name in names if name.endswith((".cpp", ".h"))]
