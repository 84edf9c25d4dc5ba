"""Errors reach Python as torchtrt's classes with a stable code, also out of a ScriptModule where libtorch made them its own. tests/errors
has the messages of every misuse."""


import pytest
import torch

import nets
import torchtrt
import torchtrt.runtime

SHAPE = [1, 1, 32, 32]


@pytest.fixture(scope="module")
def compiled():
    return torchtrt.compile(torch.jit.script(nets.lenet()), inputs=[SHAPE], require_full_compilation=True)


@pytest.mark.parametrize("wrong, code, parts", [
    (lambda x: x.double(), "E004", ["float32", "float64"]),
    (lambda x: x[..., :16], "E005", ["16"]),
], ids=["dtype", "shape"])
def test_errors_of_an_engine_keep_their_code_through_torchscript(compiled, wrong, code, parts):
    with pytest.raises(RuntimeError, match=rf"\[{code}\]"):
        compiled(wrong(nets.images()))
    with pytest.raises(torchtrt.EngineError) as caught, torchtrt.translated_errors():
        compiled(wrong(nets.images()))
    assert caught.value.code == code and str(caught.value).startswith(f"[{code}]")
    assert all(part in str(caught.value) for part in parts)
    assert "interpreter" not in str(caught.value)


def test_errors_of_the_operator_keep_their_code(compiled):
    (engine,) = torchtrt.runtime.engines(compiled).values()
    with pytest.raises(torchtrt.EngineError, match=r"^\[E003\]"), torchtrt.translated_errors():
        torch.ops.tensorrt.execute_engine([nets.images(), nets.images()], engine)


def test_errors_of_the_compiler_are_compile_errors():
    with pytest.raises(torchtrt.CompileError) as caught:
        torchtrt.compile(torch.jit.script(nets.Unsupported().eval()), inputs=[[2, 3]], require_full_compilation=True)
    assert caught.value.code == "C001"
    for part in ("2 nodes", "aten::special_bessel_j0", "aten::special_bessel_j1", "nets.py", "schema:"):
        assert part in str(caught.value)


def test_errors_of_others_pass_through():
    with pytest.raises(RuntimeError) as caught, torchtrt.translated_errors():
        torch.zeros(2) @ torch.zeros(3)
    assert not isinstance(caught.value, torchtrt.Error)


def test_a_module_that_was_not_compiled_has_no_report():
    with pytest.raises(torchtrt.CompileError, match=r"\[C003\] there is no report"):
        torchtrt.report(torch.jit.script(nets.lenet()))
