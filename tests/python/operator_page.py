"""docs/operators.md: what is converted, with the dtypes and shapes that the operator table tries, and what stays in PyTorch and why.

Write it again with: python tests/python/operator_page.py > docs/operators.md
"""

import pathlib
import warnings
from collections import defaultdict

import torch

import evaluator_table
import operator_table
from operator_case import DTYPES
from torch_release import is_for_gpus_alone
from torchtrt._torchtrt import converter_schemas

COMPLEX = (torch.complex64, torch.complex128, torch.complex32)  # as pairs of real numbers
# Names of the reference system's converters; those ending in "_" are in place.
REFERENCE = (pathlib.Path(__file__).parent / "reference_converters.txt").read_text().split()

# Overloads that no line of the operator table can try.
UNTRIED = {
    "aten::cuda": "it needs a GPU",
    "aten::split": "tried as `aten::split.sizes`",
}

STAYS = {
    "the size of the result depends on data":
        "unique_dim bincount",
    "random numbers": "rand rand_like randn randn_like randint randperm bernoulli multinomial normal poisson",
    "transforms that are rare; complex tensors are pairs of real ones within an engine, and stay in PyTorch where they would leave it": "fft_hfft fft_ihfft",
    "decompositions of matrices": "linalg_svd linalg_qr linalg_eigh linalg_inv_ex linalg_solve_ex linalg_cholesky_ex det inverse matrix_exp",
    "sparse and nested tensors": "to_sparse to_dense to_padded_tensor",
    "quantized tensors, which networks have no dtype for; the float parts of quantized modules are in engines, fake quantization is, to the bit, "
    "and under full compilation so are most quantized operators (src/lowering/README.md), but for those with scales of each call":
        "quantize_per_tensor quantize_per_channel quantize_per_tensor_dynamic dequantize int_repr q_scale quantized::add quantized::cat quantized::conv2d "
        "quantized::conv2d_relu quantized::linear quantized::linear_dynamic quantized::linear_relu quantized::mul",
    "depends on how memory is laid out": "as_strided as_strided_scatter",
    "sequences of several lengths": "_pack_padded_sequence _pad_packed_sequence ctc_loss",
    "functions without a kernel": "digamma polygamma igamma i0 erfinv nextafter frexp gcd lcm copysign hypot histogram mode renorm",
}


def staying(reason: str) -> list[str]:
    return [name if "::" in name else f"aten::{name}" for name in STAYS[reason].split()]


def untried(overload: str) -> str | None:
    return "PyTorch has it for GPUs alone" if is_for_gpus_alone(overload) else UNTRIED.get(overload)


def functional(name: str) -> str:
    base, _, overload = name.partition(".")
    base = base[:-1] if base.endswith("_") and not base.endswith("__") else base
    return base + (f".{overload}" if overload else "")


def schema_name(schema: str) -> str:
    return schema.split("(")[0]


def dtype_of(node, otherwise: torch.dtype) -> torch.dtype:
    """Returns the dtype of the first tensor that the node takes, or makes. If the trace does not tell, it is that of the line's inputs."""
    values = [*node.outputs()] if node.kind() == "aten::where" else [*node.inputs(), *node.outputs()]
    known = (value.type().dtype() for value in values if value.type().kind() == "TensorType")
    return next((dtype for dtype in known if dtype is not None), otherwise)


def reached(operator, dtype) -> set[tuple[str, torch.dtype]]:
    """The operators that a line's function is made of, for the first case that eager takes in this dtype, and their dtypes."""
    candidates = (operator.inputs(case, dtype) for case in range(len(operator.cases)) if operator.has_elements(case))
    inputs = next(inputs for inputs in candidates if operator.eager(inputs) is not None)
    graph = torch.jit.trace(operator.function, inputs, check_trace=False).graph
    torch._C._jit_pass_inline(graph)
    nodes = [node for node in graph.nodes() if node.kind().startswith(("aten::", "torchvision::"))]
    return {(functional(schema_name(node.schema())), dtype_of(node, dtype)) for node in nodes}


@torch.inference_mode()
def tried_dtypes() -> tuple[dict[str, set[torch.dtype]], dict[str, set[torch.dtype]]]:
    """Returns, by operator, the dtypes tried with sizes that are known, and with a dynamic batch."""
    tried, dynamic = defaultdict(set), defaultdict(set)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for operator in operator_table.TABLE:
            for dtype in operator.dtypes:
                for name, computed in reached(operator, dtype):
                    tried[name].add(computed)
                    if not operator.fixed:
                        dynamic[name].add(computed)
    return tried, dynamic


def evaluated_dtypes() -> dict[str, set[torch.dtype]]:
    """Returns, by evaluator of the reference, the dtypes of the tensors in whose functions it is tried."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tried = [(evaluator_table.kinds_of(f), evaluator_table.dtypes_of(f)) for f in evaluator_table.FUNCTIONS.values()]
    return {name: {dtype for kinds, dtypes in tried if name in kinds for dtype in dtypes} for name in evaluator_table.REFERENCE}


def short(dtypes: set[torch.dtype]) -> str:
    real, complex_ = ([str(dtype).removeprefix("torch.") for dtype in known if dtype in dtypes] for known in (DTYPES, COMPLEX))
    return ", ".join([*(["all"] if len(real) == len(DTYPES) else real), *complex_])


def row(name: str, overloads: list[str], tried: dict, dynamic: dict) -> str:
    full = [name + ("" if overload == "-" else f".{overload}") for overload in overloads]
    static, batches = (set().union(*(of[each] for each in full)) for of in (tried, dynamic))
    missing = [each for each in full if not tried[each] and not untried(each)]
    assert not missing, f"no line of the operator table has {missing}"
    if not static:
        return f"| `{name}` | {', '.join(overloads)} | none: {untried(full[0])} | |"
    return f"| `{name}` | {', '.join(overloads)} | {short(static)} | {'the same' if batches == static else short(batches)} |"


def page() -> str:
    schemas = converter_schemas()
    overloads, (tried, dynamic) = defaultdict(list), tried_dtypes()
    for schema in schemas:
        name, _, overload = schema_name(schema).partition(".")
        overloads[name].append(overload or "-")
    evaluators = evaluated_dtypes()
    lines = [
        "# Operators", "",
        f"{len(overloads)} operators with {len(schemas)} overloads become layers; the reference system's {len(REFERENCE)} are among them, all tried",
        "(`aten::split` as `aten::split.sizes`, which PyTorch takes for the same node). Generated by `tests/python/operator_page.py` from the",
        "registry of converters and the operator table: do not edit.", "",
        "Dtypes are those with which `tests/python/test_operators.py --every-dtype` compares the operator with eager PyTorch: all of a network's",
        f"({', '.join(str(dtype).removeprefix('torch.') for dtype in DTYPES)}) that eager",
        "takes, found out by trying. Every shape of the operator table is compiled by itself, and the first one with a batch of 1 to 6 in one plan.",
        "Where numbers are not PyTorch's, [numbers.md](numbers.md) says so.",
        "In-place forms are made functional where nobody can tell. `./dev sweep` runs all of these tests and writes this page again.", "",
        "| operator | overloads | dtypes tried, sizes known | dtypes tried, dynamic batch |", "|---|---|---|---|",
    ]
    lines += [row(name, overloads[name], tried, dynamic) for name in sorted(overloads)]
    gone = [f"`{name}`" for name in evaluator_table.REFERENCE if not evaluators[name]]
    lines += [
        "", "## Computed while compiling", "",
        "Evaluators or PyTorch itself compute operators whose operands are all known by then, such as sizes, lists and constants; a size that",
        f"depends on a dynamic dimension stays an expression. Of the reference system's {len(evaluators)} evaluators PyTorch has no {', '.join(gone)} any more;",
        "the others are tried by `tests/python/test_evaluators.py` in functions of tensors of these dtypes, sizes known and with a dynamic batch:", "",
        "| evaluator | dtypes |", "|---|---|",
        *(f"| `{name}` | {short(dtypes)} |" for name, dtypes in sorted(evaluators.items()) if dtypes),
    ]
    lines += ["", "## What stays in PyTorch", ""]
    for reason in STAYS:
        lines.append(f"- {reason}: {', '.join(f'`{name}`' for name in staying(reason))}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
