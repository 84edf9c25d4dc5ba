"""Every line of operator_table.py against eager PyTorch: each shape in each dtype that eager takes static, and the first once
more with a dynamic batch, in the first of these dtypes or, with `--every-dtype`, in each."""

import pytest
import torch

import operator_table
import torchtrt

# rtol, and atol as a part of the largest reference value (docs/verification.md).
TOLERANCES = {torch.float32: (1e-5, 1e-6), torch.float64: (1e-7, 1e-9), torch.float16: (2e-2, 2e-3), torch.bfloat16: (2e-2, 2e-2)}


def assert_equal(actual: torch.Tensor, expected: torch.Tensor, operator, inputs) -> None:
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    if not expected.dtype.is_floating_point:
        assert torch.equal(actual, expected)
        return
    assert torch.equal(actual.isnan(), expected.isnan())
    assert torch.equal(actual.isinf(), expected.isinf())
    finite = expected.isfinite()
    a, e = actual[finite].double(), expected[finite].double()
    if e.numel() == 0:
        return
    rtol, atol = TOLERANCES[expected.dtype]
    bound = atol * e.abs().max() + rtol * e.abs()
    if ((a - e).abs() <= bound).all():
        return
    # Over tolerance: passes only if the float64 reference shows both sides equally far from it.
    exact = operator.function(*(x.double() if x.dtype.is_floating_point else x for x in inputs))[finite].double()
    ours, theirs = (a - exact).abs().max().item(), (e - exact).abs().max().item()
    assert ours <= 1.5 * theirs, f"largest error {ours:.3g}, PyTorch's own {theirs:.3g}, allowed {bound.max().item():.3g}"


def compile_traced(operator, inputs, specs):
    traced = torch.jit.trace(operator.function, tuple(inputs), check_trace=False)
    return torchtrt.compile(traced, inputs=specs, require_full_compilation=True)


def pytest_generate_tests(metafunc):
    lines = operator_table.TABLE
    if "dtype" not in metafunc.fixturenames:
        return
    if "dynamic_operator" in metafunc.fixturenames:
        every = metafunc.config.getoption("--every-dtype")
        pairs = [("dynamic_operator", "dtype"), [(line, dtype) for line in lines if not line.fixed for dtype in line.dtypes[: None if every else 1]]]
    else:
        pairs = [("operator", "dtype"), [(line, dtype) for line in lines for dtype in line.dtypes]]
    metafunc.parametrize(*pairs, ids=[f"{line.name}-{str(dtype).removeprefix('torch.')}" for line, dtype in pairs[1]])


@torch.inference_mode()
def test_operator_equals_eager(operator, dtype):
    for case in range(len(operator.cases)):
        inputs = operator.inputs(case, dtype)
        expected = operator.eager(inputs)
        if expected is not None:
            compiled = compile_traced(operator, inputs, [torchtrt.Input(list(x.shape), dtype=x.dtype) for x in inputs])
            assert_equal(compiled(*inputs), expected, operator, inputs)


def with_batch(x: torch.Tensor, dimension: int | None, size: int) -> torch.Tensor:
    if dimension is None:
        return x
    return x.repeat([size if i == dimension else 1 for i in range(x.dim())]).narrow(dimension, 0, size).contiguous()


@torch.inference_mode()
def test_operator_equals_eager_with_a_dynamic_batch(dynamic_operator, dtype):
    """One plan for batches 1 to 6 of the first case."""
    operator, dimensions = dynamic_operator, dynamic_operator.batch_dimensions()
    inputs, specs = operator.inputs(0, dtype), []
    if operator.eager(inputs) is None:
        pytest.skip("eager PyTorch refuses this dtype for the first case")
    for x, dimension in zip(inputs, dimensions):
        sizes = {"min": 1, "opt": x.shape[dimension], "max": 6} if dimension is not None else {}
        shapes = {f"{end}_shape": [size if i == dimension else n for i, n in enumerate(x.shape)] for end, size in sizes.items()}
        specs.append(torchtrt.Input(**shapes, dtype=x.dtype, shared_dims={dimension: "batch"}) if shapes else torchtrt.Input(list(x.shape), dtype=x.dtype))
    compiled = compile_traced(operator, inputs, specs)
    for size in (1, 4, 6):
        changed = [with_batch(x, dimension, size) for x, dimension in zip(inputs, dimensions)]
        assert_equal(compiled(*changed), operator.function(*changed), operator, changed)
