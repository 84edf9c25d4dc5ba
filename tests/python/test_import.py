"""Importing torchtrt is cheap and maps nothing; the C++ libraries come with what needs them."""

import pathlib
import subprocess
import sys

import torchtrt

MAPS = "print(open('/proc/self/maps').read())"


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_import_loads_one_module():
    loaded = run("import sys, torch\nbefore = set(sys.modules)\nimport torchtrt\nprint(sorted(set(sys.modules) - before))")
    assert loaded.strip() == "['torchtrt']"


def test_import_maps_no_library_of_ours():
    assert "libtorchtrt" not in run("import torch, torchtrt\n" + MAPS)


def test_specifications_and_errors_need_no_library():
    assert "libtorchtrt" not in run("import torchtrt\ntorchtrt.Input([1, 2]); torchtrt.Device('cpu'); torchtrt.EngineError\n" + MAPS)


def test_everything_that_is_promised_is_there():
    for name in torchtrt.__all__:
        assert getattr(torchtrt, name) is not None
    assert torchtrt.__version__.count(".") == 2


def test_stubs_name_everything():
    folder = pathlib.Path(torchtrt.__file__).parent
    stubs = (folder / "__init__.pyi").read_text(encoding="utf-8")
    for name in torchtrt.__all__:
        assert f"{name} as {name}" in stubs or f"def {name}(" in stubs or f"class {name}" in stubs, name


def test_torch_tensorrt_is_another_name():
    import torch_tensorrt as alias

    assert alias.compile is torchtrt.compile and alias.Input is torchtrt.Input and alias.ts is torchtrt.ts
