"""Compiles every function of evaluator_table.py whole. Its inputs' sizes are fixed and, where its branches allow, dynamic, in every dtype
that eager PyTorch takes."""

import pytest
import torch

import evaluator_table
import torchtrt
from evaluator_table import FUNCTIONS

TOLERANCES = {torch.float64: 1e-12, torch.float16: 2e-3, torch.bfloat16: 2e-2}  # 1e-6 of others


def check(name, dtype, spec, sizes):
    function = FUNCTIONS[name]
    compiled = torchtrt.compile(function, inputs=[spec], require_full_compilation=True)
    for batch in sizes:
        x = evaluator_table.matrix(batch, dtype)
        tolerance = TOLERANCES.get(dtype, 1e-6)
        torch.testing.assert_close(compiled(x), function(x), rtol=tolerance, atol=tolerance)


def pytest_generate_tests(metafunc):
    if "dtype" in metafunc.fixturenames:
        pairs = [(name, dtype) for name, function in FUNCTIONS.items() for dtype in evaluator_table.dtypes_of(function)]
        metafunc.parametrize(("name", "dtype"), pairs, ids=[f"{name}-{str(dtype).removeprefix('torch.')}" for name, dtype in pairs])


@pytest.mark.filterwarnings("ignore")
@torch.inference_mode()
def test_functions_are_one_engine_and_equal_eager(name, dtype):
    check(name, dtype, torchtrt.Input([3, 4], dtype=dtype), [3])


@pytest.mark.filterwarnings("ignore")
@torch.inference_mode()
def test_functions_are_one_engine_and_equal_eager_with_a_dynamic_batch(name, dtype):
    check(name, dtype, torchtrt.Input(min_shape=[1, 4], opt_shape=[3, 4], max_shape=[6, 4], dtype=dtype), [1, 4, 6])


@torch.inference_mode()
def test_a_warning_stays_one_of_every_call_unless_nothing_may_stay_in_pytorch(capfd):
    spec = torchtrt.Input([3, 4], dtype=torch.float32)
    whole = torchtrt.compile(FUNCTIONS["warned"], inputs=[spec], require_full_compilation=True)
    assert "the module warns: rank 2" in capfd.readouterr().err
    whole(torch.ones(3, 4))
    assert "rank 2" not in capfd.readouterr().err
    parted = torchtrt.compile(FUNCTIONS["warned"], inputs=[spec], min_block_size=1)
    assert "aten::warn has effects" in str(torchtrt.report(parted))
    assert torch.equal(parted(torch.ones(3, 4)), torch.full((3, 4), 2.0))


@pytest.mark.parametrize("kind", [kind for kind in evaluator_table.REFERENCE if kind not in evaluator_table.GONE])
def test_the_references_evaluators_are_among_them(kind):
    assert any(kind in evaluator_table.kinds_of(function) for function in FUNCTIONS.values())
