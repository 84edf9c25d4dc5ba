"""Saved files do not tell in which folder, and so by whom, a module was written and compiled. No library is taken from the working directory."""

import base64
import contextlib
import io
import os
import re
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import pytest
import torch
import torchtrt
from conftest import BUILD

TESTS = Path(__file__).resolve().parents[1]
KEPT_FILES = sorted(file for name in ("golden", "fuzz/corpus", "fuzz/regressions") for file in (TESTS / name).rglob("*") if file.suffix not in (".py", ".md"))
A_MACHINE = re.compile(rb"/(?:home|root|work|tmp|mnt|opt|Users)/[\x21-\x7e]+")  # a path below a folder that people work in

MODEL = """
import torch
from torch import nn


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(12, 12), nn.Linear(12, 4)

    def forward(self, x):
        x = torch.linalg.qr(torch.sin(self.first(x)))[0]
        return torch.exp(self.second(x) + 1)
"""

COMPILE = """
import sys
sys.path.insert(0, sys.argv[1])
import model, torch, torchtrt
torch.manual_seed(0)
compiled = torchtrt.compile(torch.jit.script(model.Mixed().eval()), inputs=[torchtrt.Input((12, 12))], min_block_size=1,
                            torch_executed_ops=["aten::linalg_qr"])
compiled.save(sys.argv[2])
updatable = torchtrt.compile(torch.jit.script(model.Mixed().eval()), inputs=[torchtrt.Input((12, 12))], min_block_size=1, refit=True)
updatable.save(sys.argv[2] + ".refit")
report = torchtrt.report(compiled)
print(report.engine_segments, report.to_json())
"""


def records(saved: bytes) -> dict[str, bytes]:
    """The files in a saved module, and in the archives that engines keep in them as text: parts that run in PyTorch where an engine cannot."""
    archive = zipfile.ZipFile(io.BytesIO(saved))
    found = {name: archive.read(name) for name in archive.namelist()}
    for text in re.findall(rb"(?<=:)UEsD[A-Za-z0-9+/]+=*", b"".join(found.values())):
        inner = zipfile.ZipFile(io.BytesIO(base64.b64decode(text[: len(text) // 4 * 4])))
        found |= {f"{len(found)} {name}": inner.read(name) for name in inner.namelist()}
    return found


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """The same module, written and compiled in two folders: for each its folder, the saved bytes and the report."""
    made = []
    for user in ("ada", "somebody_else"):
        folder = tmp_path_factory.mktemp(user) / user
        folder.mkdir()
        (folder / "model.py").write_text(MODEL)
        process = subprocess.run([sys.executable, "-c", COMPILE, folder, folder / "saved.ts"], capture_output=True, text=True, check=False,
                                 cwd="/", env={**os.environ, "PYTHONHASHSEED": "0"})  # torch.jit.script lists constants in the order of a set
        assert process.returncode == 0, process.stderr
        made.append((folder, [(folder / name).read_bytes() for name in ("saved.ts", "saved.ts.refit")], process.stdout))
    return made


def test_a_saved_module_names_no_folder(two):
    for folder, saved, report in two:
        assert report.startswith("2 ") and '"model.py:' in report
        assert any(name[0].isdigit() for name in records(saved[0])), "no engine keeps a part"
        for name, data in (each for file in saved for each in records(file).items()):
            assert str(folder).encode() not in data and folder.name.encode() not in data, name
            assert os.path.dirname(torch.__file__).encode() not in data, name
        assert folder.name not in report


def test_folders_change_no_byte(two):
    (_, first, _), (_, second, _) = two
    assert [records(each) for each in first] == [records(each) for each in second]


def parts(data: bytes):
    """The bytes, and those of everything in them: records of archives, and plans and archives in base64, damaged ones as far as they go."""
    yield data
    with contextlib.suppress(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError):
        archive = zipfile.ZipFile(io.BytesIO(data))
        for name in archive.namelist():
            yield from parts(archive.read(name))
    for text in re.findall(rb"(?:VFRSVFBMQU|UEsDB)[A-Za-z0-9+/]+", data):
        yield from parts(base64.b64decode(text[: len(text) // 4 * 4]))


def test_files_that_tests_keep_name_no_folder():
    """Golden files of the first version name sources by whole paths: those of a folder that says nothing of a machine."""
    assert len(KEPT_FILES) > 100
    found = {str(file.relative_to(TESTS)): names for file in KEPT_FILES if file.is_file()
             if (names := {name for part in parts(file.read_bytes()) for name in A_MACHINE.findall(part)})}
    assert not found
    assert any(b"/torchtrt/main/tests/golden/make.py" in part for part in parts((TESTS / "golden/0.1.0/attention.engine").read_bytes()))


def test_an_engine_alone_names_no_folder():
    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.sin(x) * 2

    data = torchtrt.convert_method_to_trt_engine(torch.jit.script(Model().eval()), inputs=[torchtrt.Input((2, 3))])
    assert b"test_saved_paths.py" in data and os.path.dirname(__file__).encode() not in data


def test_the_module_that_was_compiled_keeps_its_paths():
    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.sin(x) * 2

    script = torch.jit.script(Model().eval())
    before = str(script.graph)
    torchtrt.compile(script, inputs=[torchtrt.Input((2, 3))], min_block_size=1)
    assert str(script.graph) == before and __file__ in before


def test_plugins_of_the_environment_have_whole_paths(tmp_path):
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "libplanted.so").write_bytes((BUILD / "lib" / "libplugin_converter.so").read_bytes())
    code = "import torch, torchtrt; torchtrt.compile(torch.jit.script(torch.nn.Linear(3, 3).eval()), inputs=[torchtrt.Input((2, 3))])"
    process = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False,
                             env={**os.environ, "TORCHTRT_PLUGINS": "plugins/libplanted.so"})
    assert process.returncode == 1
    assert ("[E009] plugin library 'plugins/libplanted.so' of TORCHTRT_PLUGINS has a path that depends on the working directory\n"
            "  write a path that begins with /") in process.stderr


def test_a_relative_path_of_a_plugin_library_stays_the_same_file(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHTRT_PLUGINS", "")
    monkeypatch.chdir(BUILD)
    torchtrt.runtime.load_plugin_library("lib/libplugin_converter.so")
    assert os.environ["TORCHTRT_PLUGINS"] == str(BUILD / "lib" / "libplugin_converter.so")


def test_a_planted_module_is_not_imported(tmp_path):
    """torchtrtc starts Python for programs of torch.export, in a folder with a file of the name of a module that it imports."""
    for name in ("torch", "torchtrt"):
        (tmp_path / f"{name}.py").write_text("print('planted', flush=True)\nraise SystemExit(7)\n")
    torch.export.save(torch.export.export(torch.nn.Linear(3, 2).eval(), (torch.randn(4, 3),)), tmp_path / "model.pt2")
    process = subprocess.run([BUILD / "bin" / "torchtrtc", "model.pt2", "out.ts"], cwd=tmp_path, capture_output=True, text=True, check=False,
                             env={**os.environ, "TORCHTRT_PYTHON": sys.executable})
    assert process.returncode == 0 and "planted" not in process.stdout + process.stderr, process.stdout + process.stderr
