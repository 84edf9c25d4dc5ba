"""Importing torchtrt is cheap: it maps the runtime, with which compiled modules load; the compiler comes with what needs it."""

import ast
import inspect
import pathlib
import subprocess
import sys

import pytest
import torch

import torchtrt

LIBRARIES = ["libtorchtrt", "libtorchtrt_network", "libtorchtrt_engine", "libtorchtrt_runtime", "libtorchtrt_vision"]
MAPS = "print(open('/proc/self/maps').read())"


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_import_loads_few_modules():
    loaded = run("import sys, torch\nbefore = set(sys.modules)\nimport torchtrt\nprint(sorted(set(sys.modules) - before))")
    assert loaded.strip() == "['torchtrt', 'torchtrt._announce', 'torchtrt._errors', 'torchtrt._libraries', 'torchtrt._torch_fit']"


def test_import_maps_the_runtime_and_no_compiler():
    maps = run("import torchtrt\ntorchtrt.Input([1, 2]); torchtrt.Device('cpu'); torchtrt.EngineError\n" + MAPS)
    assert {name for name in LIBRARIES if f"/{name}.so" in maps} == {"libtorchtrt_runtime", "libtorchtrt_engine"}


@pytest.mark.parametrize("name", ["torchtrt", "torchtrt.runtime", "torch_tensorrt"])
def test_compiled_modules_load_with_any_import(name, tmp_path):
    module = torch.jit.script(torch.nn.Linear(3, 2).eval())
    compiled = torchtrt.compile(module, inputs=[torchtrt.Input([1, 3])])
    compiled.save(tmp_path / "compiled.ts")
    print_sum = f"import torch, {name}\nprint(torch.jit.load({str(tmp_path / 'compiled.ts')!r})(torch.ones(1, 3)).sum().item())"
    assert float(run(print_sum)) == pytest.approx(compiled(torch.ones(1, 3)).sum().item())


def test_everything_that_is_promised_is_there():
    for name in torchtrt.__all__:
        assert getattr(torchtrt, name) is not None
    assert torchtrt.__version__.count(".") == 2


def stub():
    return ast.parse(pathlib.Path(torchtrt.__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body


def test_stubs_name_everything():
    named = {each.name for each in stub() if isinstance(each, (ast.ClassDef, ast.FunctionDef))}
    named |= {alias.asname for each in stub() if isinstance(each, ast.ImportFrom) for alias in each.names}
    named |= {target.id for each in stub() if isinstance(each, ast.Assign) for target in each.targets}
    assert set(torchtrt.__all__) <= named, set(torchtrt.__all__) - named


def test_the_stub_of_input_names_every_argument():
    (described,) = (each for each in stub() if isinstance(each, ast.ClassDef) and each.name == "Input")
    (init,) = (each for each in described.body if isinstance(each, ast.FunctionDef) and each.name == "__init__")
    named = {each.arg for each in [*init.args.args, *init.args.kwonlyargs]}
    assert named == set(inspect.signature(torchtrt.Input.__init__).parameters)


def test_torch_tensorrt_is_another_name():
    import torch_tensorrt as alias

    assert alias.compile is torchtrt.compile and alias.Input is torchtrt.Input and alias.ts is torchtrt.ts


def test_names_are_listed_once():
    names = dir(torchtrt)
    assert len(names) == len(set(names)) and {"Input", "compile", "__version__"} <= set(names)
