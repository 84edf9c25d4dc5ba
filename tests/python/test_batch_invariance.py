"""batch_invariant=True: each sample of a batch has the bits that it has alone, in one plan for all batches and in plans for one batch each."""

import io

import pytest
import torch

import batches
import catalog
import operator_table
import torchtrt
from batches import BATCHES

DTYPES = (torch.float32, torch.bfloat16)
THREADS = (1, 2)


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


@torch.inference_mode()
def check_rows(module, inputs, numbers=BATCHES, counts=THREADS, **options):
    options = {"batch_invariant": True, **options}
    for count in counts:
        with batches.threads(count):
            of_all = batches.compile_for(module, inputs, None, **options)
            alone = batches.compile_for(module, inputs, 1, **options)
            for batch in numbers:
                of_one = of_all if batch in (2, 8) else batches.compile_for(module, inputs, batch, **options)
                for run in {of_all, of_one}:
                    different = batches.rows_that_differ(alone, run, inputs, batch)
                    assert not different, f"rows {different} of a batch of {batch} on {count} threads"


@pytest.mark.parametrize("dtype", DTYPES, ids=dtype_name)
@pytest.mark.parametrize("name", batches.LAYERS)
def test_rows_of_layers_are_those_of_single_runs(name, dtype):
    if dtype == torch.bfloat16 and name in ("lstm", "gru"):
        dtype = torch.float64
    check_rows(*batches.layer(name, dtype), require_full_compilation=True)


INT8 = ["linear", "linear, wide", "linear of tokens", "linear, then gelu", "3x3", "3x3 of few pixels", "1x1", "1x1 of few pixels", "grouped"]


@pytest.mark.parametrize("name", INT8)
def test_rows_of_int8_layers_are_those_of_single_runs(name):
    """Ranges come from one batch, as with a cache: another batch has other ranges, and so other numbers."""
    module, inputs = batches.layer(name, torch.float32)
    for count in THREADS:
        with batches.threads(count), torch.inference_mode():
            compiled = batches.compile_for(module, inputs, None, batch_invariant=True, enabled_precisions={torch.int8})
            for batch in BATCHES:
                assert not batches.rows_that_differ(compiled, compiled, inputs, batch), f"{batch} on {count} threads"


def of_rows(operator, inputs) -> bool:
    """True if the operator's results for a sample depend on that sample alone, so that batches can be compared at all."""
    with torch.inference_mode():
        try:
            together = batches.flat(operator.function(*inputs))
            alone = {row: batches.flat(operator.function(*(x[row : row + 1].contiguous() for x in inputs))) for row in (1, 2, 16)}
        except (RuntimeError, ValueError, IndexError):
            return False
    return all(a.dim() > 0 and b.shape == (len(inputs[0]), *a.shape[1:]) and len(a) == 1 and
               torch.allclose(a[0].double().nan_to_num(), b[row].double().nan_to_num(), rtol=1e-2, atol=1e-2)
               for row, tensors in alone.items() for a, b in zip(tensors, together))


def table_lines():
    for operator in operator_table.TABLE:
        case = next((i for i in range(len(operator.cases)) if operator.has_elements(i)), None)
        if case is None or operator.fixed or set(operator.batch_dimensions()) != {0}:
            continue
        for dtype in DTYPES:
            if dtype in operator.dtypes:
                yield operator, case, dtype


LINES = list(table_lines())


@pytest.mark.parametrize(("operator", "case", "dtype"), LINES, ids=[f"{operator.name}-{dtype_name(dtype)}" for operator, _, dtype in LINES])
def test_rows_of_operators_are_those_of_single_runs(operator, case, dtype):
    given = operator.inputs(case, dtype)
    inputs = [x.repeat(BATCHES[-1], *[1] * (x.dim() - 1))[: BATCHES[-1]].contiguous() for x in given]
    # Samples differ, so that a row of another sample is noticed.
    inputs = [x * torch.linspace(0.5, 1, len(x)).view(-1, *[1] * (x.dim() - 1)).to(x.dtype) if x.dtype.is_floating_point else x for x in inputs]
    if operator.eager(inputs) is None or not of_rows(operator, inputs):
        pytest.skip("its samples are not apart, or not along the first dimension")
    for count in (1, 2):
        with batches.threads(count), torch.inference_mode():
            runs = {batch: batches.compile_for(traced(operator, inputs, batch), inputs, batch, batch_invariant=True) for batch in (1, 3, 17)}
            for batch, run in runs.items():
                assert not batches.rows_that_differ(runs[1], run, inputs, batch), f"{batch} on {count} threads"


def traced(operator, inputs, batch):
    return torch.jit.trace(operator.function, tuple(batches.first(inputs, batch)), check_trace=False)


MODELS = ["resnet18, traced", "mobilenet_v3_small, traced", "efficientnet_b0, traced", "shufflenet_v2_x0_5, scripted", "vision transformer, scripted",
          "swin transformer, scripted"]


# In bfloat16 PyTorch keeps an operator of the vision transformer, so it is not whole.
WHOLE = [(name, dtype) for name in MODELS for dtype in DTYPES if (name, dtype) != ("vision transformer, scripted", torch.bfloat16)]


@pytest.mark.parametrize(("name", "dtype"), WHOLE, ids=[f"{name}-{dtype_name(dtype)}" for name, dtype in WHOLE])
def test_rows_of_models_are_those_of_single_runs(name, dtype):
    case = catalog.make(name)
    shape = case.calls[0][0].shape
    x = catalog.noise(BATCHES[-1], *shape[1:], seed=3)
    options = {"op_precision": dtype, "batch_invariant": True, "require_full_compilation": True}
    for count in (1, 2):
        with batches.threads(count), torch.inference_mode():
            of_all = batches.compile_for(case.script, [x], None, **options)
            alone = batches.compile_for(case.script, [x], 1, **options)
            for batch in BATCHES:
                assert not batches.rows_that_differ(alone, of_all, [x], batch), f"{batch} on {count} threads"


def linear():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Conv2d(16, 64, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(64 * 64, 33)).eval()


def test_plans_keep_it_and_files_do():
    x = torch.randn(5, 16, 8, 8)
    compiled = torchtrt.compile(linear(), inputs=[x], batch_invariant=True)
    file = io.BytesIO()
    torch.jit.save(compiled, file)
    file.seek(0)
    loaded = torch.jit.load(file)
    for module in (compiled, loaded):
        (engine,) = torchtrt.runtime.engines(module).values()
        assert "\nbatch invariant\n" in engine.inspect()
    assert batches.same_bits(loaded(x), compiled(x))
    (plain,) = torchtrt.runtime.engines(torchtrt.compile(linear(), inputs=[x])).values()
    assert "batch invariant" not in plain.inspect()


def test_the_report_tells_what_it_costs(tmp_path):
    x = torch.randn(5, 16, 8, 8)
    report = torchtrt.report(torchtrt.compile(linear(), inputs=[x], batch_invariant=True))
    (segment,) = (segment for segment in report.segments if segment.target == "engine")
    assert [(step.family, step.microseconds) for step in segment.invariant] == [("convolution", 0.0)]
    assert segment.invariant[0].implementation != segment.invariant[0].by_rule
    assert "for the same bits in every batch: not timed, tune=True does" in str(report)
    timed = torchtrt.report(torchtrt.compile(linear(), inputs=[x], sample_inputs=[x], batch_invariant=True, tune=True))
    steps = [step for segment in timed.segments for step in segment.invariant]
    assert all(step.microseconds > 0 and step.by_rule_microseconds > 0 for step in steps)


def test_a_timing_cache_decides_nothing(tmp_path):
    x = torch.randn(5, 16, 8, 8)
    cache = tmp_path / "kernels.txt"
    compiled = torchtrt.compile(linear(), inputs=[x], sample_inputs=[x], batch_invariant=True, tune=True, timing_cache=str(cache))
    assert not cache.exists() and "timed on" not in "".join(engine.inspect() for engine in torchtrt.runtime.engines(compiled).values())


def test_updated_weights_keep_it():
    module, x = linear(), torch.randn(3, 16, 8, 8)
    compiled = torchtrt.compile(module, inputs=[x], batch_invariant=True, refit=True)
    torchtrt.update_weights(compiled, {name: value * 2 for name, value in module.state_dict().items()})
    assert all("\nbatch invariant\n" in engine.inspect() for engine in torchtrt.runtime.engines(compiled).values())


def test_one_plan_for_a_gpu_says_so():
    compiled = torchtrt.compile(linear(), inputs=[torch.randn(2, 16, 8, 8)], batch_invariant=True, target="sm_90", progress=False)
    assert all("\nbatch invariant\n" in engine.inspect() for engine in torchtrt.runtime.engines(compiled).values())
