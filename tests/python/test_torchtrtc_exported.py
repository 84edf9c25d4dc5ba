"""torchtrtc takes programs of torch.export (.pt2): by way of Python, with the options of TorchScript modules that say something of them."""

import os
import sys

import pytest
import torch
import torchtrt
from test_torchtrtc import succeeds, torchtrtc
from torch import nn


class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x, **unused):  # TorchScript has no **
        return self.second(torch.relu(self.first(x)))


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A folder with program.pt2, for 1 to 8 rows, and the module."""
    folder = tmp_path_factory.mktemp("exported")
    torch.manual_seed(0)
    module = Rows().eval()
    torch.export.save(torch.export.export(module, (torch.randn(3, 4),), dynamic_shapes={"x": {0: torch.export.Dim("rows", max=8)}}),
                      folder / "program.pt2")
    return folder, module


@pytest.fixture
def python(monkeypatch):
    monkeypatch.setenv("TORCHTRT_PYTHON", sys.executable)


def assert_is(folder, file, module, rows):
    x = torch.randn(rows, 4)
    torch.testing.assert_close(torch.jit.load(str(folder / file))(x), module(x))


def test_a_program_needs_no_input_specifications(program, python):
    folder, module = program
    process = succeeds("program.pt2", "compiled.ts", cwd=folder)
    assert "1 engine, 0 segments in PyTorch" in process.stderr and "wrote       compiled.ts" in process.stderr
    for rows in (1, 5, 8):
        assert_is(folder, "compiled.ts", module, rows)
    with pytest.raises(torchtrt.EngineError, match=r"\[E005\]"), torchtrt.translated_errors():
        torch.jit.load(str(folder / "compiled.ts"))(torch.randn(9, 4))


def test_specifications_narrow_the_range(program, python):
    folder, module = program
    succeeds("program.pt2", "narrow.ts", "[(2,4);(3,4);(4,4)]@f32", cwd=folder)
    (engine,) = torchtrt.runtime.engines(torch.jit.load(str(folder / "narrow.ts"))).values()
    assert engine.inputs()[0][3:] == ([2, 4], [3, 4], [4, 4])
    assert_is(folder, "narrow.ts", module, 3)


def test_options_are_those_of_a_compile(program, python):
    folder, module = program
    process = succeeds("program.pt2", "options.ts", "--torch-executed-op", "aten::relu", "--min-block-size", "1", "--explain", cwd=folder)
    assert "aten::relu" in process.stderr
    assert_is(folder, "options.ts", module, 2)
    process = torchtrtc("program.pt2", "full.ts", "--torch-executed-op", "aten::relu", "--require-full-compilation", cwd=folder)
    assert process.returncode == 2 and "[C003] require_full_compilation is set" in process.stderr and not (folder / "full.ts").exists()


def test_what_the_libraries_print_is_not_in_the_file(program, python, tmp_path):
    folder, module = program
    (tmp_path / "sitecustomize.py").write_text("print('a line of a library')\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    succeeds("program.pt2", "printed.ts", cwd=folder, env={**os.environ, "PYTHONPATH": path})
    assert_is(folder, "printed.ts", module, 2)


REFUSED = {
    "--tune": "--tune", "--save-engine": "--save-engine", "--precision first=f16": "--precision",
    "--tem first": "--torch-executed-mod", "--accuracy-target 0.1": "--accuracy-target", "--stop-after lowering --dump d": "--stop-after"}


@pytest.mark.parametrize("line", REFUSED)
def test_options_for_torchscript_are_refused(program, python, line):
    folder, _ = program
    process = torchtrtc("program.pt2", "out.ts", *line.split(), cwd=folder)
    assert process.returncode == 2
    assert process.stderr == (f'torchtrtc: [C003] {REFUSED[line]} is for TorchScript modules, and "program.pt2" is an exported program of '
                              "torch.export\n  compile it in Python: torchtrt.compile(torch.export.load(path), ...)\n")


def test_a_wrong_specification_is_the_command_lines_fault(program, python):
    folder, _ = program
    process = torchtrtc("program.pt2", "out.ts", "(2,5)", cwd=folder)
    assert process.returncode == 2 and "[C002]" in process.stderr, process.stderr
    assert not (folder / "out.ts").exists()


def test_a_python_without_torchtrt_is_named(program, tmp_path):
    folder, _ = program
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    bare.chmod(0o755)
    for python, why in [(str(bare), f'"{bare}" has no torchtrt'), ("/nowhere/python", '"/nowhere/python" cannot be run: No such file or directory')]:
        process = torchtrtc("program.pt2", "out.ts", cwd=folder, env={**os.environ, "TORCHTRT_PYTHON": python})
        assert process.returncode == 1
        assert process.stderr.startswith(f'torchtrtc: [C004] "program.pt2" is an exported program, which Python compiles, and {why}\n  name a Python')


def test_a_damaged_program_is_an_error(program, python):
    folder, _ = program
    content = bytearray((folder / "program.pt2").read_bytes())
    start = content.find(b'"graph_module"')
    content[start:start + 14] = b'"grapx_module"'
    (folder / "damaged.pt2").write_bytes(content)
    process = torchtrtc("damaged.pt2", "out.ts", cwd=folder)
    assert process.returncode == 1 and '[C004] cannot read the exported program "damaged.pt2"' in process.stderr, process.stderr
