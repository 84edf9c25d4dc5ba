"""Modules that come by torch.export and torch.compile, on a GPU against eager PyTorch there."""

import torch
from torch import nn

from gpu_checks import Checks
from gpu_common import DEVICE, engines_of, synchronize


class Layers(nn.Module):
    """TorchScript takes neither its keyword arguments nor its dictionary."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(64, 64) for _ in range(3))
        self.norm = nn.LayerNorm(64)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x, **options):
        self.calls += 1
        for layer in self.layers:
            x = nn.functional.gelu(layer(x), **options)
        return {"norm": self.norm(x), "calls": self.calls + 0}


def made(build, dtype=torch.float32):
    torch.manual_seed(0)
    return build().eval().to(DEVICE, dtype)


def close(actual, expected, dtype=torch.float32) -> None:
    tolerance = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 6e-2}[dtype]
    torch.testing.assert_close(actual.float(), expected.float(), rtol=tolerance, atol=tolerance * float(expected.abs().max()))


def bert():
    import transformers

    configuration = transformers.BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, vocab_size=100)
    return transformers.BertModel(configuration, add_pooling_layer=False)


def resnet():
    import torchvision

    return torchvision.models.resnet18(weights=None)


def exports(_) -> None:
    import torchtrt

    check = Checks("exports")
    rows = torchtrt.Input(min_shape=[2, 64], opt_shape=[4, 64], max_shape=[32, 64])

    @check("a module by torch.export: a range, a buffer that it writes, a dictionary")
    def _():
        compiled, module = torchtrt.compile(made(Layers), ir="export", inputs=[rows]), made(Layers)
        engines = engines_of(compiled)
        assert engines and all(engine.device() == torch.device(DEVICE) for engine in engines.values())
        with torch.no_grad():
            for count in (2, 7, 32):
                x = torch.randn(count, 64, device=DEVICE)
                actual, expected = compiled(x), module(x)
                close(actual["norm"], expected["norm"])
                assert torch.equal(actual["calls"], expected["calls"])

    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        @check(f"ResNet-18 by torch.export in {dtype}")
        def _(dtype=dtype):
            module, x = made(resnet, dtype), torch.randn(2, 3, 64, 64, device=DEVICE, dtype=dtype)
            compiled = torchtrt.compile(module, ir="export", inputs=[x])
            assert torchtrt.report(compiled).share_in_engines == 1.0
            with torch.no_grad():
                close(compiled(x), module(x), dtype)

    @check("BERT by torch.compile: a second length compiles once more, then for any")
    def _():
        torch._dynamo.reset()
        module = made(bert)
        compiled = torch.compile(module, backend="torchtrt")
        with torch.no_grad():
            for length in (16, 24, 31, 9):
                tokens = torch.randint(100, (2, length), device=DEVICE)
                close(compiled(input_ids=tokens).last_hidden_state, module(input_ids=tokens).last_hidden_state)
        assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 2, torch._dynamo.utils.counters["stats"]

    @check("torch.compile on a stream of the caller's")
    def _():
        torch._dynamo.reset()
        module, x = made(resnet, torch.float16), torch.randn(2, 3, 64, 64, device=DEVICE, dtype=torch.float16)
        compiled = torch.compile(module, backend="torchtrt")
        stream = torch.cuda.Stream()
        with torch.no_grad(), torch.cuda.stream(stream):
            actual = [compiled(x) for _ in range(5)][-1]  # the third call is recorded
        stream.synchronize()
        with torch.no_grad():
            close(actual, module(x), torch.float16)

    @check("a program from a file, saved, and loaded on the GPU")
    def _():
        import io

        program = torch.export.export(made(resnet), (torch.randn(2, 3, 64, 64, device=DEVICE),))
        file, saved = io.BytesIO(), io.BytesIO()
        torch.export.save(program, file)
        file.seek(0)
        torch.jit.save(torchtrt.compile(torch.export.load(file)), saved)
        saved.seek(0)
        x = torch.randn(2, 3, 64, 64, device=DEVICE)
        with torch.no_grad():
            close(torch.jit.load(saved, map_location=DEVICE)(x), made(resnet)(x))

    synchronize()
    check.close()
