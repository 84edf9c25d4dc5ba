"""The runtime wheel: one file for every Python runs saved modules, has no compiler, and gives way to the wheel that has one."""

import ast
import email
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch
import torchtrt

from test_wheel import CLEAN, OTHER_TORCH, RUN, TORCH, fresh_environment, run

OLDEST = (3, 9)


@pytest.fixture(scope="module")
def wheel(wheels):
    return wheels["torchtrt_runtime"]


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    return fresh_environment(tmp_path_factory.mktemp("runtime_wheel") / "venv", wheel)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A folder with a compiled module, an input, and what the module as it was gives for it."""
    folder = tmp_path_factory.mktemp("saved")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 6, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(6 * 30 * 30, 10)).eval()
    x = torch.randn(1, 1, 32, 32)
    torchtrt.compile(torch.jit.script(model), inputs=[torchtrt.Input([1, 1, 32, 32])]).save(folder / "compiled.ts")
    torch.save([x, model(x).detach()], folder / "sample.pt")
    return folder


def test_one_wheel_for_every_python(wheel):
    label = TORCH.replace(".", "")
    assert re.fullmatch(rf"torchtrt_runtime-\d+\.\d+\.\d+\+pt{label}-py3-none-manylinux_2_\d+_\w+\.whl", wheel.name), wheel.name
    archive = zipfile.ZipFile(wheel)
    (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
    metadata = email.message_from_bytes(archive.read(name))
    assert metadata["Name"] == "torchtrt-runtime" and metadata["Requires-Python"] == ">=3.9"
    needed = metadata.get_all("Requires-Dist")
    assert [each for each in needed if "extra ==" not in each] == [f"torch=={TORCH}.*"]
    assert set(metadata.get_all("Provides-Extra")) == {"ray", "spark", "beam", "triton"}


def test_it_holds_no_compiler_and_nothing_of_one_python(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    libraries = {Path(name).name for name in names if ".so" in Path(name).name}
    ours = {name for name in libraries if "torchtrt" in name}
    assert ours == {"libtorchtrt_engine.so", "libtorchtrt_cuda.so", "libtorchtrt_runtime.so", "libtorchtrt_vision.so"}
    assert not any("cpython" in name for name in libraries)
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {
        "torchtrt_runtime", "_torchtrt_runtime_names.py", "torchtrt_runtime_names.pth"}
    assert any(name.endswith("THIRD_PARTY.md") for name in names)
    assert {f"torchtrt_runtime/torchtrt/integrations/{name}.py" for name in ("ray", "spark", "beam", "triton")} <= set(names)


@pytest.mark.parametrize("name", ["torchtrt.runtime", "torchtrt", "torchtrt_runtime"])
def test_a_saved_module_runs_and_no_compiler_is_mapped(python, saved, name):
    code = RUN.replace("torchtrt.runtime", name)
    mapped = run(python, "-c", code, saved / "compiled.ts", saved / "sample.pt", env=CLEAN, cwd=saved).split()
    assert {each for each in mapped if "torchtrt" in each} == {"libtorchtrt_engine.so", "libtorchtrt_runtime.so"}


def test_its_functions_are_those_of_the_package(python, saved):
    code = ("import torch, torchtrt, torchtrt_runtime\nmodule = torch.jit.load('compiled.ts')\n"
            "assert len(torchtrt.runtime.engines(module)) == 1 and torchtrt_runtime.prepare(module) == 1\n"
            "assert torchtrt_runtime.EngineError is torchtrt.EngineError is torchtrt.runtime.EngineError\n"
            "torchtrt.runtime.load_vision()\n"
            "try:\n    torchtrt.runtime.load_plugin_library('./none.so')\nexcept torchtrt.EngineError as error:\n    print(error.code)")
    assert run(python, "-c", code, env=CLEAN, cwd=saved) == "E009\n"


def test_the_compiler_is_said_to_be_elsewhere(python, tmp_path):
    process = subprocess.run([python, "-c", "import torchtrt; torchtrt.compile"], env=CLEAN, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert process.stderr.splitlines()[-1].startswith("AttributeError: torchtrt.compile: torchtrt-runtime runs compiled modules and has no compiler")


def test_the_version_is_that_of_the_wheel(python, wheel, tmp_path):
    version = run(python, "-c", "import torchtrt; print(torchtrt.__version__)", env=CLEAN, cwd=tmp_path).strip()
    assert wheel.name.startswith(f"torchtrt_runtime-{version}+")


def test_the_wheel_with_the_compiler_goes_first(wheels, saved, tmp_path):
    both = fresh_environment(tmp_path / "venv", *wheels.values())
    code = "import torchtrt.runtime, torchtrt_runtime; torchtrt.compile; print(torchtrt.__file__, torchtrt_runtime.engines is torchtrt.runtime.engines)"
    place, same = run(both, "-c", code, env=CLEAN, cwd=tmp_path).split()
    assert Path(place).parts[-3:] == ("site-packages", "torchtrt", "__init__.py") and same == "True"


def test_a_target_folder_serves_too(wheel, saved, tmp_path):
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps", "--no-index", "--target", tmp_path, wheel, env=CLEAN)
    environment = {**CLEAN, "PYTHONPATH": str(tmp_path)}
    code = RUN.replace("torchtrt.runtime", "torchtrt_runtime")
    assert "libtorchtrt_runtime.so" in run(sys.executable, "-c", code, saved / "compiled.ts", saved / "sample.pt", env=environment, cwd=tmp_path)


def test_starting_python_imports_next_to_nothing(python, tmp_path):
    code = "import sys; print(sorted(name for name in sys.modules if 'torch' in name))"
    assert run(python, "-c", code, env=CLEAN, cwd=tmp_path) == "['_torchtrt_runtime_names']\n"


def sources(wheel):
    archive = zipfile.ZipFile(wheel)
    return {name: archive.read(name).decode() for name in archive.namelist() if name.endswith(".py")}


def test_its_python_is_that_of_the_oldest_release(wheel):
    for name, text in sources(wheel).items():
        tree = ast.parse(text, name, feature_version=OLDEST)
        functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
        annotations = [each for function in functions for each in (function.returns, *(argument.annotation for argument in function.args.args)) if each]
        unions = any(isinstance(part, ast.BinOp) for annotation in annotations for part in ast.walk(annotation))
        assert not unions or "from __future__ import annotations" in text, f"{name}: X | Y in an annotation is evaluated before Python 3.10"


def other_pythons() -> list[str]:
    """Interpreters of other releases on this machine, from the oldest that the wheel is for."""
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = {}
    for minor in range(OLDEST[1], 20):
        places = [shutil.which(f"python3.{minor}"), *sorted(root.glob(f"3.{minor}.*/bin/python"))]
        place = next((str(each) for each in places if each and subprocess.run([each, "--version"], capture_output=True, check=False).returncode == 0), None)
        if place and minor != sys.version_info.minor:
            found[minor] = place
    return list(found.values())


@pytest.mark.parametrize("interpreter", other_pythons() or [pytest.param("", marks=pytest.mark.skip(reason="this machine has one Python alone"))])
def test_another_python_reads_it(interpreter, wheel, tmp_path):
    """All but the loading, for which that Python would need a torch of its own: it ends with the line of a torch that does not fit."""
    zipfile.ZipFile(wheel).extractall(tmp_path)
    for module in ("torchtrt.runtime", "torchtrt_runtime"):
        code = "import _torchtrt_runtime_names\n" + OTHER_TORCH.replace("torchtrt{module}", module)
        process = subprocess.run([interpreter, "-c", code], env={**CLEAN, "PYTHONPATH": str(tmp_path)}, cwd=tmp_path, capture_output=True, text=True,
                                 check=False)
        assert f"was built for torch {TORCH}, found 2.99: pip install" in process.stderr.splitlines()[-1], process.stderr
