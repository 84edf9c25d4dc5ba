"""Results have the same bits on 1, 2, 3 and 4 threads, in float32, bfloat16 and int8. Deep products of bfloat16 by oneDNN are the exception."""

import functools

import pytest
import torch

import batches
import catalog
import operator_table
import torchtrt
from torchtrt import ptq

DTYPES = (torch.float32, torch.bfloat16)
THREADS = (1, 2, 3, 4)
DIVIDED = ("linear, deep", "linear of tokens, deep")


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


@torch.inference_mode()
def threads_that_differ(compiled, inputs) -> list[int]:
    """Numbers of threads whose results differ from those of one. compiled() is asked for each, as packing may depend on it, too."""
    results = {}
    for count in THREADS:
        with batches.threads(count):
            results[count] = batches.flat(compiled()(*inputs))
    return [count for count in THREADS if not all(map(batches.same_bits, results[1], results[count]))]


@pytest.mark.parametrize("dtype", DTYPES, ids=dtype_name)
@pytest.mark.parametrize("name", batches.LAYERS)
def test_layers(name, dtype):
    if dtype == torch.bfloat16 and name in ("lstm", "gru"):
        dtype = torch.float64
    module, inputs = batches.layer(name, dtype)
    # oneDNN divides deep sums of few rows of bfloat16 among threads (docs/numbers.md).
    options = {"batch_invariant": True} if dtype == torch.bfloat16 and name in DIVIDED else {}
    for batch in (1, 2, 17):
        compiled = functools.partial(batches.compile_for, module, inputs, batch, **options)
        assert not threads_that_differ(compiled, batches.first(inputs, batch)), batch


def compile_int8(module, given, calibrator):
    specs = [torchtrt.Input(list(x.shape)) for x in given]
    script = torch.jit.trace(module, tuple(given), check_trace=False)
    return torchtrt.compile(script, inputs=specs, enabled_precisions={torch.int8}, check_results=False, calibrator=calibrator)


@pytest.mark.parametrize("name", ["linear", "linear, deep", "linear of tokens, deep", "linear, then gelu", "3x3", "3x3 of few pixels", "1x1", "grouped"])
def test_int8_layers(name, tmp_path):
    module, inputs = batches.layer(name, torch.float32)
    for batch in (1, 17):
        given, cache = batches.first(inputs, batch), str(tmp_path / f"{batch}.cache")
        compile_int8(module, given, ptq.DataLoaderCalibrator([tuple(given)] * 2, cache_file=cache))
        assert not threads_that_differ(functools.partial(compile_int8, module, given, ptq.CacheCalibrator(cache)), given), batch


LINES = [(operator, dtype) for operator in operator_table.TABLE for dtype in DTYPES if dtype in operator.dtypes]


@pytest.mark.parametrize(("operator", "dtype"), LINES, ids=[f"{operator.name}-{dtype_name(dtype)}" for operator, dtype in LINES])
def test_operators(operator, dtype):
    for case in range(len(operator.cases)):
        inputs = operator.inputs(case, dtype)
        if not operator.has_elements(case) or operator.eager(inputs) is None:
            continue
        module = torch.jit.trace(operator.function, tuple(inputs), check_trace=False)
        specs = [torchtrt.Input(list(x.shape), dtype=x.dtype) for x in inputs]
        assert not threads_that_differ(functools.partial(torchtrt.compile, module, inputs=specs, check_results=False), inputs), case


MODELS = ["resnet18, traced", "mobilenet_v3_small, traced", "efficientnet_b0, traced", "vision transformer, scripted", "swin transformer, scripted"]


@pytest.mark.parametrize("dtype", DTYPES, ids=dtype_name)
@pytest.mark.parametrize("name", MODELS)
def test_models(name, dtype):
    case = catalog.make(name)
    inputs = [x.to(dtype) if x.is_floating_point() else x for x in case.calls[0]]
    assert not threads_that_differ(functools.partial(batches.compile_for, case.script, inputs, len(inputs[0]), op_precision=dtype), inputs)
