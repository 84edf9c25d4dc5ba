"""Models on a GPU against eager PyTorch, each in a process of its own: float32 and float16, batches of 1 and 4."""

import concurrent.futures
import copy
import dataclasses
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import torch
from torch import nn

import arguments as bench_arguments
import gpu as bench_gpu
import models as bench_models
import settling
import verdict
from gpu_common import DEVICE, SUITE, engines_of, first_line, implementations, synchronize


def _vision(name):
    def make():
        import torchvision

        return torchvision.models.get_model(name, weights=None), lambda batch: (torch.randn(batch, 3, 224, 224),)

    return make


def _timm(name, size=224):
    def make():
        import timm

        return timm.create_model(name, pretrained=False), lambda batch: (torch.randn(batch, 3, size, size),)

    return make


class _First(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *arguments):
        return self.model(*arguments, return_dict=False)[0]


def text_model(kind, **settings):
    def make():
        import transformers

        config = getattr(transformers, kind + "Config")(**settings)
        model = getattr(transformers, kind + "Model")(config)
        return _First(model), lambda batch: (torch.randint(0, 1000, (batch, 64)),)

    return make


SMALL = {"hidden_size": 256, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 512, "vocab_size": 1000}
MODELS = {
    **{name: _vision(name) for name in (
        "resnet18", "resnet50", "mobilenet_v2", "mobilenet_v3_large", "efficientnet_b0", "densenet121", "vgg11", "squeezenet1_1",
        "shufflenet_v2_x1_0", "mnasnet0_5", "regnet_y_400mf", "convnext_tiny", "vit_b_16", "swin_t", "googlenet", "alexnet")},
    **{name: _timm(name) for name in (
        "mixer_s32_224", "deit_tiny_patch16_224", "ghostnet_100", "hardcorenas_a", "lcnet_050", "mobilevitv2_050", "poolformer_s12",
        "resmlp_12_224", "visformer_tiny", "xcit_nano_12_p16_224", "repvgg_a0", "res2net50_26w_4s", "levit_128s", "coat_tiny",
        "pvt_v2_b0", "edgenext_xx_small", "rexnet_100", "tf_efficientnetv2_b0", "regnetx_002", "convmixer_768_32", "efficientformerv2_s0",
        "gmixer_24_224", "nf_resnet50", "mobileone_s0")},
    "bert": text_model("Bert", **SMALL), "roberta": text_model("Roberta", **SMALL), "electra": text_model("Electra", **SMALL),
    "distilbert": text_model("DistilBert", dim=256, n_layers=3, n_heads=4, hidden_dim=512, vocab_size=1000),
    "gpt2": text_model("GPT2", n_embd=256, n_layer=3, n_head=4, vocab_size=1000),
    "albert": text_model("Albert", **SMALL), "mpnet": text_model("MPNet", **SMALL),
}
BENCHMARK = tuple(bench_arguments.PEER_MODELS)
DETECTORS = ("fasterrcnn_mobilenet_v3_large_320_fpn", "retinanet_resnet50_fpn")  # scripted, for their steps on the CPU
DTYPES, BATCHES = ("float32", "float16"), (1, 4)


def cast(values, dtype):
    """The same nest of tensors on the device, floating ones of that dtype."""
    return bench_gpu.moved(values, DEVICE, dtype)


def signature(values):
    """The same nest with an Input in the place of each tensor."""
    import torchtrt

    if isinstance(values, torch.Tensor):
        return torchtrt.Input(list(values.shape), dtype=values.dtype)
    return type(values)(map(signature, values)) if isinstance(values, (list, tuple)) else values


def flat(values) -> list[torch.Tensor]:
    if isinstance(values, torch.Tensor):
        return [values]
    if isinstance(values, dict):
        values = [values[key] for key in sorted(values)]
    return [x for value in values for x in flat(value)] if isinstance(values, (list, tuple)) else []


@dataclasses.dataclass
class Case:
    """A model in float32 on the CPU, the arguments of a call, and the way to TorchScript."""

    model: nn.Module
    arguments_of: Callable[[int], tuple]
    is_scripted: bool = False
    dtypes: tuple[str, ...] = DTYPES

    def script(self, model, arguments):
        if isinstance(model, torch.jit.ScriptModule):
            return model
        return torch.jit.script(model) if self.is_scripted else torch.jit.trace(model, arguments, check_trace=False, strict=False)


def case_of(name: str) -> Case:
    torch.manual_seed(0)
    if name in DETECTORS:
        import torchvision

        threshold = {"box_score_thresh" if "rcnn" in name else "score_thresh": 0.02}
        model = getattr(torchvision.models.detection, name)(weights=None, weights_backbone=None, **threshold).eval()
        settling.spread_heads(model, list(torch.rand(1, 3, 240, 320)))
        return Case(model, lambda batch: (list(torch.rand(batch, 3, 240, 320)),), True, ("float32",))
    if name in BENCHMARK:
        described = bench_models.ALL[name]
        dtypes = ("float32",) if described.is_scripted else DTYPES
        return Case(bench_models.build(name), lambda batch: bench_models.arguments(name, batch), described.is_scripted, dtypes)
    model, arguments_of = MODELS[name]()
    with torch.no_grad():
        for parameter in model.parameters():  # some heads begin with zeros, which any answer would match
            if not parameter.any():
                nn.init.normal_(parameter, std=0.02)
        model = settling.settle(model, *[x for x in arguments_of(4) if x.is_floating_point()]) if _normalizes(model) else model.eval()
    return Case(model, arguments_of)


def _normalizes(model) -> bool:
    return any(isinstance(module, nn.modules.batchnorm._BatchNorm) for module in model.modules())


def difference(got, exact) -> float:
    """The largest over all tensors, relative to the largest value of each; infinite if their numbers or shapes differ."""
    got, exact = flat(got), flat(exact)
    if [x.shape for x in got] != [x.shape for x in exact]:
        return float("inf")
    pairs = [(x.double(), y.double()) for x, y in zip(got, exact) if x.numel() > 0]
    return max(((x - y).abs().max() / y.abs().max().clamp_min(1e-30)).item() for x, y in pairs) if pairs else 0.0


def allowed(dtype: torch.dtype, theirs: float) -> float:
    """The largest difference from float64 that an engine may have where PyTorch's is `theirs`."""
    return verdict.allowed(str(dtype).removeprefix("torch."), theirs)


@torch.inference_mode()
def one_model(name: str) -> None:
    """Prints a line of JSON for each dtype and batch."""
    import torchtrt

    torch.set_num_threads(2)
    case = case_of(name)
    for batch, dtype_name in itertools.product(BATCHES, case.dtypes):
        dtype = getattr(torch, dtype_name)
        torch.manual_seed(1)
        given = case.arguments_of(batch)
        label = {"case": f"{name} {dtype_name} batch {batch}"}
        try:
            scripted = isinstance(case.model, torch.jit.ScriptModule)
            exact = None if scripted else copy.deepcopy(case.model).to(DEVICE).double()(*cast(given, torch.float64))
            model = copy.deepcopy(case.model).to(DEVICE, dtype)
            inputs = cast(given, dtype)
            expected = model(*inputs)
            exact = expected if exact is None else exact  # TorchScript whose constants have one dtype: PyTorch judges
            script = case.script(copy.deepcopy(case.model).to(DEVICE, dtype), inputs)
            started = time.monotonic()
            compiled = torchtrt.compile(script, input_signature=signature(inputs), device=DEVICE, enabled_precisions={torch.float32, dtype})
            seconds = time.monotonic() - started
            got = compiled(*inputs)
            synchronize()
            ours, theirs = difference(got, exact), difference(expected, exact)
            chosen = implementations(compiled)
            share = re.search(r"(\d+)% of (\d+) nodes? in engines", str(torchtrt.report(compiled)))
            alike = [(x.dtype, x.device) for x in flat(got)] == [(x.dtype, x.device) for x in flat(expected)]
            result = {"ok": ours <= allowed(dtype, theirs) and alike, "ours": ours, "theirs": theirs, "engines": len(engines_of(compiled)),
                      "share": share[1] if share else "?", "host": chosen["host"], "steps": sum(chosen.values()), "seconds": seconds}
        except Exception as error:  # noqa: BLE001 - told, and the others run
            result = {"ok": False, "problem": first_line(error)}
        print(json.dumps(label | result), flush=True)


def models(arguments) -> None:
    end = time.monotonic() + arguments.seconds - 5
    names = [*BENCHMARK, *DETECTORS, *(name for name in MODELS if name not in BENCHMARK)]

    environment = {**os.environ, "OMP_NUM_THREADS": "2"}  # ten processes share the cores

    def run(name):
        left = end - time.monotonic()
        if left < 15:
            return name, None, "was not reached"
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as told:
            try:
                code = subprocess.run([sys.executable, SUITE, "one-model", name], stdout=out, stderr=told, env=environment,
                                      timeout=min(200.0, left), check=False).returncode
                problem = f"exit {code}" if code != 0 else ""
            except subprocess.TimeoutExpired:
                problem = "took too long"
            out.seek(0)
            told.seek(0)
            errors = [line for line in told if re.search(r"\[[CEI]\d{3}\]|Error", line)]
            lines = [json.loads(line) for line in out if line.startswith("{")]
        return name, lines, f"{problem}: {errors[-1].strip()[:200]}" if problem and errors else problem

    equal, failed, rows = 0, 0, []
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        for name, lines, problem in pool.map(run, names):
            if problem:
                failed += lines is not None
                print("SLOW" if lines is None else "FAIL", name, problem, flush=True)
            for row in lines or []:
                equal, failed = equal + row["ok"], failed + (not row["ok"])
                if "problem" in row:
                    print("FAIL", row["case"], row["problem"], flush=True)
                    continue
                rows.append(row)
                print("TABLE" if row["ok"] else "FAIL", f"{row['case']:48} engines {row['engines']:2}  nodes {row['share']:>3}%  steps {row['steps']:4}  "
                      f"host {row['host']:3}  error {row['ours']:.1e}  eager's {row['theirs']:.1e}  compiled in {row['seconds']:.1f} s", flush=True)
    print(f"SUM models: {equal} equal, {failed} failed; {sum(r['host'] for r in rows)} of {sum(r['steps'] for r in rows)} steps on the host; "
          f"{sum(r['share'] == '100' for r in rows)} of {len(rows)} wholly in engines")
