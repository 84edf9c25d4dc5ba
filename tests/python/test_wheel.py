"""The wheel in a fresh environment: all its names and torchtrtc work there, and a process that only runs modules maps no compiler."""

import email
import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
import torch

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


def fresh_environment(folder: Path, *wheels) -> Path:
    """The interpreter of an environment with these wheels installed; torch is lent by a .pth file, since it is 4 GB."""
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    (packages,) = (folder / "lib").glob("python3*/site-packages")
    (packages / "lent_torch.pth").write_text(sysconfig.get_paths()["platlib"] + "\n", encoding="utf-8")
    interpreter = folder / "bin" / "python"
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", interpreter, "install", "--quiet", "--no-deps",
        "--no-index", *wheels, env=CLEAN)
    return interpreter


@pytest.fixture(scope="module")
def wheel(wheels):
    return wheels["torchtrt"]


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    return fresh_environment(tmp_path_factory.mktemp("wheel") / "venv", wheel)


TORCH = ".".join(torch.__version__.split(".")[:2])


def test_version_and_requirement_name_the_torch_that_it_was_built_for(wheel):
    assert re.fullmatch(rf"torchtrt-\d+\.\d+\.\d+\+pt{TORCH.replace('.', '')}-cp\d+-cp\d+-manylinux_2_\d+_\w+\.whl", wheel.name), wheel.name
    archive = zipfile.ZipFile(wheel)
    (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/WHEEL"))
    assert wheel.stem.rpartition("-")[2] in email.message_from_bytes(archive.read(name))["Tag"]


def test_the_platform_tag_covers_every_symbol_version(wheel, tmp_path):
    """The loader of a system with the tag's glibc has every version that the wheel asks for."""
    minor = int(re.search(r"manylinux_2_(\d+)_", wheel.name).group(1))
    zipfile.ZipFile(wheel).extractall(tmp_path)
    binaries = [path for path in tmp_path.rglob("*") if path.suffix == ".so" or ".so." in path.name or path.name == "torchtrtc"]
    assert {"libtorchtrt.so", "libtorchtrt_engine.so", "torchtrtc", "libhwy.so.1"} <= {path.name for path in binaries}
    wanted = {int(found) for path in binaries for found in re.findall(r"GLIBC_2\.(\d+)\b", run("objdump", "-T", path))}
    assert wanted and max(wanted) <= minor
    if minor < 35:
        assert not any("GLIBCXX_3.4.30" in run("objdump", "-T", path) for path in binaries)


OTHER_TORCH = """
import sys, types
torch = types.ModuleType("torch")
torch.__version__ = "2.99.1+cpu"
torch.jit = types.SimpleNamespace(Error=RuntimeError)
sys.modules["torch"] = torch
import torchtrt{module}
"""


@pytest.mark.parametrize("module", ["", ".runtime"])
def test_another_torch_is_one_line_that_names_both(python, tmp_path, module):
    process = subprocess.run([python, "-c", OTHER_TORCH.format(module=module)], env=CLEAN, cwd=tmp_path, capture_output=True, text=True, check=False)
    last = process.stderr.splitlines()[-1]
    assert re.fullmatch(rf'ImportError: torchtrt \d+\.\d+\.\d+ was built for torch {TORCH}, found 2\.99: pip install "torch=={TORCH}\.\*", '
                        r"or the wheel torchtrt \d+\.\d+\.\d+\+pt299", last), process.stderr


def test_torchtrtc_says_so_too(python, tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").touch()
    (tmp_path / "torch" / "version.py").write_text("from typing import Optional\n__version__ = '2.99.1+cpu'\n")
    process = subprocess.run([python.parent / "torchtrtc", "--version"], env={**CLEAN, "PYTHONPATH": str(tmp_path)}, cwd=tmp_path,
                             capture_output=True, text=True, check=False)
    assert process.returncode == 1 and f"was built for torch {TORCH}, found 2.99" in process.stderr


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


def test_torchtrtc_is_on_the_path(python, saved):
    environment = {**CLEAN, "PATH": f"{python.parent}:/usr/bin:/bin"}
    assert run("torchtrtc", "--version", env=environment, cwd=saved).startswith("torchtrtc 0.")
    assert "loads, 1 engine" in run("torchtrtc", "check", "compiled.ts", env=environment, cwd=saved)
    run(python, "-c", "import torch; torch.jit.script(torch.nn.ReLU().eval()).save('relu.ts')", env=environment, cwd=saved)
    run("torchtrtc", "relu.ts", "relu_compiled.ts", "(2)", env=environment, cwd=saved)
    assert "output: Float[2]" in run("torchtrtc", "run", "relu_compiled.ts", "(2)", "--calls=1", env=environment, cwd=saved)
    refused = subprocess.run(["torchtrtc", "check", "none.ts"], env=environment, cwd=saved, capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and "[C004]" in refused.stderr


def test_engines_for_gpus_are_found(python, saved):
    """With a GPU or without, no library of torchtrt is missing."""
    environment = {**CLEAN, "PATH": f"{python.parent}:/usr/bin:/bin"}
    process = subprocess.run(["torchtrtc", "check", "compiled.ts", "--device", "cuda:0"], env=environment, cwd=saved, capture_output=True, text=True,
                             check=False)
    said = process.stdout + process.stderr
    assert "loads, 1 engine" in said and "this installation has no engines for cuda" not in said, said


NAMES = """
import sys
import torch_tensorrt, trtorch, torchtrt
import torch_tensorrt.ts.ptq, torch_tensorrt.logging, trtorch.ptq
assert torch_tensorrt.compile is torchtrt.compile and torch_tensorrt.ts.ptq is torchtrt.ptq and torch_tensorrt.logging is torchtrt.logging
assert trtorch.Input is torchtrt.Input
print(torch_tensorrt.__version__, torch_tensorrt.__file__)
"""


def test_the_other_names_are_imported(python, tmp_path):
    version, place = run(python, "-c", NAMES, env=CLEAN, cwd=tmp_path).split()
    assert version[0].isdigit() and Path(place).is_relative_to(python.parents[1])


def test_torch_compile_knows_the_backend_without_an_import(python, tmp_path):
    code = ("import sys, torch\nassert 'torchtrt' in torch._dynamo.list_backends() and 'torchtrt' not in sys.modules\n"
            "model, x = torch.nn.Linear(4, 4).eval().requires_grad_(False), torch.ones(2, 4)\n"
            "torch.testing.assert_close(torch.compile(model, backend='torchtrt', options={'min_block_size': 1})(x), model(x))\n"
            "assert 'torchtrt._backend' in sys.modules")
    run(python, "-c", code, env=CLEAN, cwd=tmp_path)


def test_an_installed_package_of_another_name_wins(python, tmp_path):
    (tmp_path / "torch_tensorrt").mkdir()
    (tmp_path / "torch_tensorrt" / "__init__.py").write_text("OTHER = True\n")
    code = "import torch_tensorrt, torchtrt, trtorch; print(torch_tensorrt.OTHER, trtorch.compile.__module__)"
    assert run(python, "-c", code, env={**CLEAN, "PYTHONPATH": str(tmp_path)}, cwd=tmp_path) == "True trtorch\n"


def test_starting_python_imports_next_to_nothing(python, tmp_path):
    code = "import sys; print(sorted(name for name in sys.modules if 'torch' in name))"
    assert run(python, "-c", code, env=CLEAN, cwd=tmp_path) == "['_torchtrt_names']\n"


def test_a_target_folder_serves_too(wheel, tmp_path):
    """Python reads no .pth file there, so the names are known once torchtrt is imported."""
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps", "--no-index", "--target", tmp_path, wheel,
        env=CLEAN)
    code = "import torchtrt, torch_tensorrt, trtorch; print(torchtrt.__file__, torch_tensorrt.Input([1, 2]))"
    place = run(sys.executable, "-c", code, env={**CLEAN, "PYTHONPATH": str(tmp_path)}, cwd=tmp_path)
    assert place.startswith(str(tmp_path)) and "Input([1, 2]" in place
    environment = {**CLEAN, "PYTHONPATH": str(tmp_path)}
    assert "Usage: torchtrtc" in run(tmp_path / "bin" / "torchtrtc", "--help", env=environment, cwd=tmp_path)


def test_metadata(wheel):
    archive = zipfile.ZipFile(wheel)
    (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
    metadata = email.message_from_bytes(archive.read(name))
    assert metadata["Name"] == "torchtrt" and metadata["License-Expression"] == "Apache-2.0" and metadata["Summary"]
    needed = metadata.get_all("Requires-Dist")
    assert [each for each in needed if "extra ==" not in each] == [f"torch=={TORCH}.*"]
    assert set(metadata.get_all("Provides-Extra")) == {"ray", "spark", "beam", "triton"}
    assert {"Operating System :: POSIX :: Linux", "Typing :: Typed"} <= set(metadata.get_all("Classifier"))
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "a CPU build of it is enough" in " ".join(metadata.get_payload().split())


def test_wheel_holds_type_stubs_and_licences_and_no_sources(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"torchtrt", "_torchtrt_names.py", "_torchtrtc.py", "torchtrt_names.pth"}
    assert {"torchtrt/py.typed", "torchtrt/__init__.pyi"} <= set(names)
    assert any(name.endswith("THIRD_PARTY.md") for name in names)
    assert not [name for name in names if name.endswith((".cpp", ".h"))]
