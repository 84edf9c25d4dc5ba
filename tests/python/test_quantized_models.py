"""torchvision's quantized models under full compilation: one engine, whose results are PyTorch's to the bit."""

import warnings

import pytest
import torch
from torch.ao import quantization
from torchvision.models import quantization as quantized_models

import torchtrt
from same import saved

OPTIONS = {"googlenet": {"aux_logits": False, "init_weights": False}}


def images(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def quantized(name: str) -> torch.nn.Module:
    """Returns a model with statistics and ranges of random images; fbgemm's ranges are of seven bits, which no product saturates."""
    torch.manual_seed(0)
    module = getattr(quantized_models, name)(weights=None, **OPTIONS.get(name, {})).train()
    module(images(8, 3, 64, 64, seed=0))
    module.eval().fuse_model()
    module.qconfig = quantization.get_default_qconfig("fbgemm")
    quantization.prepare(module, inplace=True)
    for seed in range(1, 3):
        module(images(8, 3, 64, 64, seed=seed))
    return quantization.convert(module, inplace=True).eval()


@pytest.mark.parametrize("way", ["script", "trace"])
@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v2", "googlenet"])
@torch.inference_mode()
def test_whole_models_are_one_engine(name, way):
    before = torch.backends.quantized.engine
    torch.backends.quantized.engine = "fbgemm"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module, x = quantized(name), images(2, 3, 64, 64, seed=3) * 0.8
            script = torch.jit.script(module) if way == "script" else torch.jit.trace(module, x)
            batches = torchtrt.Input(min_shape=[1, 3, 64, 64], opt_shape=[2, 3, 64, 64], max_shape=[4, 3, 64, 64])
            compiled = torchtrt.compile(script, inputs=[batches], require_full_compilation=True)
            assert torchtrt.report(compiled).engine_segments == 1
            for each in (compiled, saved(compiled)):
                for batch in (x, x[:1]):
                    assert logits(script(batch)).unique().numel() > 20
                    assert torch.equal(logits(each(batch)), logits(script(batch)))
    finally:
        torch.backends.quantized.engine = before


def test_modules_that_were_loaded_and_gradients_that_are_on(tmp_path):
    """Packed weights of a file hold the code they came with, and their bias is a parameter."""
    before = torch.backends.quantized.engine
    torch.backends.quantized.engine = "fbgemm"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.manual_seed(0)
            module = torch.nn.Sequential(
                quantization.QuantStub(), torch.nn.Conv2d(3, 8, 3), torch.nn.Flatten(), torch.nn.Linear(8 * 36, 10), quantization.DeQuantStub()
            ).eval()
            module.qconfig = quantization.get_default_qconfig("fbgemm")
            quantization.prepare(module, inplace=True)
            x = images(4, 3, 8, 8, seed=0)
            module(x)
            torch.jit.script(quantization.convert(module).eval()).save(tmp_path / "quantized.ts")
        assert torch.is_grad_enabled()
        loaded = torch.jit.load(tmp_path / "quantized.ts")
        compiled = torchtrt.compile(loaded, inputs=[torchtrt.Input([4, 3, 8, 8])], require_full_compilation=True)
        assert torchtrt.report(compiled).engine_segments == 1
        assert torch.equal(compiled(x * 0.8), loaded(x * 0.8)) and loaded(x).unique().numel() > 10
    finally:
        torch.backends.quantized.engine = before


def logits(result) -> torch.Tensor:
    return result if isinstance(result, torch.Tensor) else result[0]  # GoogLeNet's, scripted
