"""Models on a GPU against eager PyTorch, each in a process of its own."""

import concurrent.futures
import copy
import json
import re
import subprocess
import sys
import time

import torch
from torch import nn

from gpu_common import DEVICE, SUITE, engines_of, exact_settings, implementations, synchronize


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
        "resmlp_12_224", "visformer_tiny", "xcit_nano_12_p16_224", "repvgg_a0", "res2net50_26w_4s", "levit_128s", "coat_tiny")},
    "bert": text_model("Bert", **SMALL), "roberta": text_model("Roberta", **SMALL), "electra": text_model("Electra", **SMALL),
    "distilbert": text_model("DistilBert", dim=256, n_layers=3, n_heads=4, hidden_dim=512, vocab_size=1000),
    "gpt2": text_model("GPT2", n_embd=256, n_layer=3, n_head=4, vocab_size=1000),
    "albert": text_model("Albert", **SMALL), "mpnet": text_model("MPNet", **SMALL),
}


def cast(values, dtype):
    return tuple(x.to(DEVICE, dtype if x.is_floating_point() else x.dtype) for x in values)


@torch.inference_mode()
def one_model(name: str, dtype_name: str, batch: int) -> None:
    import torchtrt

    exact_settings()
    dtype = getattr(torch, dtype_name)
    torch.manual_seed(0)
    model, inputs_of = MODELS[name]()
    model = model.eval().to(DEVICE)
    torch.manual_seed(1)
    given = inputs_of(batch)
    exact = copy.deepcopy(model).double()(*cast(given, torch.float64)).double()  # a model may keep what it computed
    model = model.to(dtype)
    inputs = cast(given, dtype)
    expected = model(*inputs)
    traced = torch.jit.trace(model, inputs, check_trace=False, strict=False)
    started = time.monotonic()
    specs = [torchtrt.Input(list(x.shape), dtype=x.dtype) for x in inputs]
    compiled = torchtrt.compile(traced, inputs=specs, device=DEVICE, enabled_precisions={torch.float32, dtype})
    seconds = time.monotonic() - started
    got = compiled(*inputs)
    synchronize()
    largest = max(exact.abs().max().item(), 1e-30)
    ours, theirs = (got.double() - exact).abs().max().item() / largest, (expected.double() - exact).abs().max().item() / largest
    allowed = max({"float32": 1e-4}.get(dtype_name, 2e-2), 2 * theirs)
    chosen = implementations(compiled)
    summary = re.search(r"(\d+)% of (\d+) nodes? in engines", torchtrt.report(compiled).summary() if hasattr(torchtrt.report(compiled), "summary") else str(torchtrt.report(compiled)))
    print(json.dumps({"ok": ours <= allowed and got.dtype == expected.dtype and got.device == expected.device, "ours": ours, "theirs": theirs,
                      "engines": len(engines_of(compiled)), "share": summary[1] if summary else "?", "host": chosen["host"],
                      "steps": sum(chosen.values()), "seconds": seconds}), flush=True)


def models(arguments) -> None:
    end = time.monotonic() + arguments.seconds - 5
    cases = [(name, dtype, batch) for batch in (1, 4) for dtype in ("float32", "float16") for name in MODELS]

    def run(case):
        left = end - time.monotonic()
        if left < 10:
            return case, None, "late"
        try:
            process = subprocess.run([sys.executable, SUITE, "one-model", *map(str, case)], capture_output=True, text=True,
                                     timeout=min(120.0, left), check=False)
        except subprocess.TimeoutExpired:
            return case, None, "takes too long"
        lines = [line for line in process.stdout.splitlines() if line.startswith("{")]
        if not lines:
            told = [line for line in process.stderr.splitlines() if line.strip()]
            errors = [line for line in told if re.search(r"\[[CEI]\d{3}\]|Error", line)]
            return case, None, f"exit {process.returncode}: {(errors or told or [''])[-1][:220]}"
        return case, json.loads(lines[-1]), ""

    passed, failed, late, rows = 0, 0, 0, []
    with concurrent.futures.ThreadPoolExecutor(7) as pool:
        for case, result, problem in pool.map(run, cases):
            label = f"{case[0]} {case[1]} batch {case[2]}"
            if problem == "late":
                late += 1
                continue
            if result is None:
                failed += 1
                print("FAIL", label, problem, flush=True)
            else:
                passed, failed = passed + result["ok"], failed + (not result["ok"])
                rows.append((label, result))
                print("TABLE" if result["ok"] else "FAIL", f"{label:38} engines {result['engines']:2}  nodes {result['share']:>3}%  steps {result['steps']:4}  "
                      f"host {result['host']:3}  error {result['ours']:.1e}  eager's {result['theirs']:.1e}  compiled in {result['seconds']:.1f} s", flush=True)
    print(f"SUM models: {passed} equal, {failed} failed, {late} not reached; {sum(r['host'] for _, r in rows)} of {sum(r['steps'] for _, r in rows)} steps on the host")
