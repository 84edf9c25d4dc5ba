"""Whether results depend on the batch or on the number of threads, bit for bit: layers, and the ways to compile and compare them."""

import contextlib
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import nn

import torchtrt
from torchtrt import ptq

BATCHES = (1, 2, 3, 5, 8, 17)


class Apply(nn.Module):
    """A function of tensors and of modules, with parameters of one dtype."""

    def __init__(self, function: Callable, *modules: nn.Module):
        super().__init__()
        self.function, self.inner = function, nn.ModuleList(modules)

    def forward(self, *inputs):
        return self.function(*inputs, *self.inner)


def _of_module(make: Callable, *shape: int):
    return (lambda x, module: module(x)), (make,), (shape,)


def _of_function(function: Callable, *shapes: tuple[int, ...]):
    return function, (), shapes


def _conv(inputs: int, outputs: int, kernel: int, size: int, stride: int = 1, groups: int = 1):
    def make():
        return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups), nn.ReLU())

    return _of_module(make, inputs, size, size)


def _attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


# Shapes are those of one sample.
LAYERS = {
    "linear, narrow": _of_module(lambda: nn.Linear(16, 16), 16),
    "linear": _of_module(lambda: nn.Linear(300, 70), 300),
    "linear, wide": _of_module(lambda: nn.Linear(768, 1000), 768),
    "linear, deep": _of_module(lambda: nn.Linear(3072, 768), 3072),
    "linear of tokens": _of_module(lambda: nn.Linear(768, 768), 64, 768),
    "linear of tokens, deep": _of_module(lambda: nn.Linear(3072, 768), 64, 3072),
    "linear, then gelu": _of_module(lambda: nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64)), 50, 64),
    "product": _of_function(torch.matmul, (33, 64), (64, 40)),
    "product of rows": _of_function(torch.matmul, (1, 64), (64, 50)),
    "product, deep": _of_function(torch.matmul, (33, 1024), (1024, 40)),
    "product of heads": _of_function(lambda a, b: a @ b.transpose(-1, -2), (4, 50, 32), (4, 50, 32)),
    "stem": _conv(3, 64, 7, 64, 2),
    "3x3": _conv(64, 64, 3, 28),
    "3x3 of few pixels": _conv(256, 256, 3, 7),
    "3x3 of fewer pixels": _conv(512, 512, 3, 4),
    "3x3 with stride": _conv(64, 128, 3, 28, 2),
    "1x1": _conv(64, 256, 1, 28),
    "1x1 of few pixels": _conv(1024, 256, 1, 7),
    "1x1 with stride": _conv(64, 128, 1, 28, 2),
    "depthwise": _conv(32, 32, 3, 28, 1, 32),
    "depthwise with stride": _conv(96, 96, 5, 28, 2, 96),
    "grouped": _conv(64, 128, 3, 14, 1, 2),
    "grouped by four": _conv(64, 64, 3, 14, 1, 16),
    "few outputs": _conv(16, 3, 3, 32),
    "few channels": _conv(8, 8, 3, 32),
    "squeeze and excitation": _of_module(lambda: Excited(64), 64, 20, 20),
    "inverted residual": _of_module(lambda: nn.Sequential(nn.Conv2d(16, 96, 1), nn.ReLU6(), nn.Conv2d(96, 96, 3, padding=1, groups=96),
                                                          nn.ReLU6(), nn.Conv2d(96, 16, 1)), 16, 56, 56),
    "lines": _of_module(lambda: nn.Conv1d(80, 384, 3, 1, 1), 80, 100),
    "long windows": _of_module(lambda: nn.Conv1d(1, 64, 256, 64), 1, 2048),
    "volumes": _of_module(lambda: nn.Conv3d(16, 32, 3, 1, 1), 16, 4, 14, 14),
    "patches": _of_module(lambda: nn.Conv2d(3, 192, 16, 16), 3, 64, 64),
    "transposed": _of_module(lambda: nn.ConvTranspose2d(64, 32, 2, 2), 64, 14, 14),
    "transposed, overlapping": _of_module(lambda: nn.ConvTranspose2d(64, 32, 4, 2, 1), 64, 14, 14),
    "transposed, few outputs": _of_module(lambda: nn.ConvTranspose2d(32, 3, 3, 1, 1), 32, 14, 14),
    "layer norm": _of_module(lambda: nn.LayerNorm(768), 20, 768),
    "group norm": _of_module(lambda: nn.GroupNorm(4, 32), 32, 20, 20),
    "softmax": _of_function(lambda x: x.softmax(-1), (1000,)),
    "softmax across": _of_function(lambda x: x.softmax(1), (33, 7)),
    "sum": _of_function(lambda x: x.sum(-1), (40000,)),
    "short sums": _of_function(lambda x: x.sum(-1), (13, 9)),
    "mean of tokens": _of_function(lambda x: x.mean(1), (197, 192)),
    "mean of narrow lines": _of_function(lambda x: x.mean(1), (50, 3)),
    "mean of images": _of_function(lambda x: x.mean((2, 3)), (64, 15, 15)),
    "norm of narrow lines": _of_function(lambda x: x.norm(dim=1), (50, 3)),
    "logsumexp": _of_function(lambda x: x.logsumexp(-1), (700,)),
    "variance": _of_function(lambda x: x.var(-1), (700,)),
    "cumulative sum": _of_function(lambda x: x.cumsum(-1), (700,)),
    "average pool": _of_function(lambda x: F.avg_pool2d(x, 3, 2, 1), (16, 15, 15)),
    "adaptive pool": _of_function(lambda x: F.adaptive_avg_pool2d(x, 3), (16, 17, 17)),
    "global pool": _of_function(lambda x: F.adaptive_avg_pool2d(x, 1), (160, 7, 7)),
    "bilinear": _of_function(lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear"), (5, 13, 13)),
    "attention": _of_function(_attention, (4, 50, 32), (4, 50, 32), (4, 50, 32)),
    "attention of one query": _of_function(_attention, (4, 1, 32), (4, 77, 32), (4, 77, 32)),
    "multi-head attention": _of_module(lambda: SelfAttention(64, 4), 30, 64),
    "sequence first": _of_function(lambda x, module: module(x.transpose(0, 1)).transpose(0, 1), (12, 300)),
    "lstm": _of_module(lambda: Recurrent(nn.LSTM(40, 64, batch_first=True)), 12, 40),
    "gru": _of_module(lambda: Recurrent(nn.GRU(40, 300, batch_first=True, bidirectional=True)), 12, 40),
}
LAYERS["sequence first"] = (LAYERS["sequence first"][0], (lambda: nn.Linear(300, 70),), LAYERS["sequence first"][2])


class Excited(nn.Module):
    def __init__(self, channels: int):
        super().__init__()
        self.depthwise = nn.Conv2d(channels, channels, 3, padding=1, groups=channels)
        self.down, self.up, self.out = nn.Conv2d(channels, 8, 1), nn.Conv2d(8, channels, 1), nn.Conv2d(channels, 24, 1)

    def forward(self, x):
        x = torch.relu(self.depthwise(x))
        return self.out(x * torch.sigmoid(self.up(torch.relu(self.down(F.adaptive_avg_pool2d(x, 1))))))


class SelfAttention(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x, need_weights=False)[0]


class Recurrent(nn.Module):
    def __init__(self, cells: nn.Module):
        super().__init__()
        self.cells = cells

    def forward(self, x):
        return self.cells(x)[0]


def layer(name: str, dtype: torch.dtype) -> tuple[nn.Module, list[torch.Tensor]]:
    """The layer and its inputs for the largest batch, seeded."""
    function, makers, shapes = LAYERS[name]
    torch.manual_seed(0)
    module = Apply(function, *(make() for make in makers)).eval().to(dtype).requires_grad_(False)
    generator = torch.Generator().manual_seed(1)
    return module, [torch.randn(BATCHES[-1], *shape, generator=generator).to(dtype) for shape in shapes]


def first(inputs: list[torch.Tensor], batch: int) -> list[torch.Tensor]:
    return [x[:batch].contiguous() for x in inputs]


def compile_for(module, inputs: list[torch.Tensor], batch: int | None, **options):
    """For one batch, or for all."""
    example = first(inputs, batch or 8)
    specs = []
    for x in example:
        shape = list(x.shape)
        ends = {"shape": shape} if batch else {f"{end}_shape": [size, *shape[1:]] for end, size in (("min", 1), ("opt", 8), ("max", BATCHES[-1]))}
        specs.append(torchtrt.Input(**ends, dtype=x.dtype, **({} if batch else {"shared_dims": {0: "batch"}})))
    script = module if isinstance(module, torch.jit.ScriptModule) else torch.jit.trace(module, tuple(example), check_trace=False, strict=False)
    if options.get("enabled_precisions"):
        options["calibrator"] = ptq.DataLoaderCalibrator([tuple(first(inputs, batch or 8))] * 2)
    return torchtrt.compile(script, inputs=specs, check_results=False, **options)


def flat(result) -> list[torch.Tensor]:
    """The tensors of a result, in order."""
    if isinstance(result, torch.Tensor):
        return [result]
    return [x for each in (result.values() if isinstance(result, dict) else result) for x in flat(each)]


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return a.reshape(-1).view(torch.uint8).equal(b.reshape(-1).view(torch.uint8))


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def rows_that_differ(run_alone: Callable, run: Callable, inputs: list[torch.Tensor], batch: int) -> list[int]:
    """Rows of a batch that differ from the single run of their sample."""
    together = flat(run(*first(inputs, batch)))
    different = []
    for row in range(batch):
        alone = flat(run_alone(*(x[row : row + 1].contiguous() for x in inputs)))
        if not all(same_bits(a[0], b[row]) for a, b in zip(alone, together, strict=True)):
            different.append(row)
    return different
