"""Every line of operator_table.py against eager PyTorch: each dtype and shape static, and once more with dynamic leading dimensions, of
the first dtype that eager takes or, with `--every-dtype`, of each."""

import pytest
import torch

import operator_table
import torchtrt

# rtol, and atol as a part of the largest reference value (docs: README, "How results are compared").
TOLERANCES = {torch.float32: (1e-5, 1e-6), torch.float64: (1e-7, 1e-9), torch.float16: (2e-2, 2e-3), torch.bfloat16: (2e-2, 2e-2)}


def eager(operator, inputs):
    """The reference, or None for what PyTorch itself refuses."""
    try:
        return operator.function(*inputs)
    except (RuntimeError, NotImplementedError, IndexError, ValueError):
        return None


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


PAIRS = [
    pytest.param(operator, dtype, id=f"{operator.name}-{str(dtype).removeprefix('torch.')}")
    for operator in operator_table.TABLE
    for dtype in operator.dtypes
]


@pytest.mark.parametrize("operator, dtype", PAIRS)
@torch.inference_mode()
def test_operator_equals_eager(operator, dtype):
    generator = torch.Generator().manual_seed(7)
    tried = 0
    for case in operator.cases:
        inputs = [tensor.make(dtype, generator) for tensor in case]
        expected = eager(operator, inputs)
        if expected is None:
            continue
        compiled = compile_traced(operator, inputs, [torchtrt.Input(list(x.shape), dtype=x.dtype) for x in inputs])
        assert_equal(compiled(*inputs), expected, operator, inputs)
        tried += 1
    if not tried:
        pytest.skip("eager PyTorch refuses this dtype for every shape")


def pytest_generate_tests(metafunc):
    if "dynamic_operator" in metafunc.fixturenames:
        every = metafunc.config.getoption("--every-dtype")
        pairs = [(operator, dtype) for operator in operator_table.TABLE if operator.dynamic for dtype in (operator.dtypes if every else [None])]
        names = [operator.name + (f"-{str(dtype).removeprefix('torch.')}" if dtype else "") for operator, dtype in pairs]
        metafunc.parametrize("dynamic_operator, dtype", pairs, ids=names)


def dynamic_inputs(operator, dtype) -> list:
    """Of the first case, in a dtype that eager takes: this one, or where none is asked for float32 or the operator's first."""
    for each in [dtype] if dtype else [torch.float32, operator.dtypes[0]]:
        generator = torch.Generator().manual_seed(9)
        inputs = [x.make(each, generator) for x in operator.cases[0]]
        if eager(operator, inputs) is not None:
            return inputs
    pytest.skip("eager PyTorch refuses this dtype")


@torch.inference_mode()
def test_operator_equals_eager_with_a_dynamic_batch(dynamic_operator, dtype):
    """One plan for batches 1 to 6 of the first case: inputs of the first one's rank and leading dimension share the batch."""
    operator, case = dynamic_operator, dynamic_operator.cases[0]
    batch = case[0].shape[0] if case[0].shape else 0
    shared = [len(x.shape) == len(case[0].shape) and x.shape[:1] == (batch,) for x in case]
    specs, inputs = [], dynamic_inputs(operator, dtype)
    for x, dynamic in zip(inputs, shared):
        rest = list(x.shape[1:])
        specs.append(torchtrt.Input(min_shape=[1, *rest], opt_shape=[batch, *rest], max_shape=[6, *rest], dtype=x.dtype,
                                    shared_dims={0: "batch"}) if dynamic and x.dim() else torchtrt.Input(list(x.shape), dtype=x.dtype))
    compiled = compile_traced(operator, inputs, specs)
    for size in (1, 4, 6):
        changed = [x.repeat(size, *([1] * (x.dim() - 1)))[:size] if dynamic and x.dim() else x for x, dynamic in zip(inputs, shared)]
        assert_equal(compiled(*changed), operator.function(*changed), operator, changed)
