"""Random small stacks of layers over images, lines and volumes: every pairing of memory orders and sizes of 1 that kernels may meet.

A stack is a list of steps, each a dictionary, so that it can be written as JSON and made smaller: see stack_fuzz.py.
"""

import dataclasses
import math
import random

import torch
import torch.nn.functional as F
from torch import nn

SIZES = (1, 1, 2, 3, 5, 8)
DTYPES = ("float32", "float32", "float32", "float64", "float16", "bfloat16", "int64")
MOST_ELEMENTS = 60_000  # of a value: stacks are many, so each is small
ACTIVATIONS = ("relu", "silu", "gelu", "sigmoid", "hardswish", "tanh", "relu6")


@dataclasses.dataclass
class Stack:
    shape: list[int]  # [N, C, d...]
    dtype: str
    steps: list[dict]
    is_dynamic: bool = False  # batch and spatial dims
    layout: str = "dense"  # of what is passed: or "channels_last", "crosswise" (the last two dims exchanged) or "part" (of a larger tensor)
    seed: int = 0

    @property
    def spatial(self) -> int:
        return len(self.shape) - 2


class StackModule(nn.Module):
    """Parameters are drawn from the seed in the order of the steps, scaled so that values stay about 1."""

    def __init__(self, stack: Stack):
        super().__init__()
        self.steps = stack.steps
        self.generator = torch.Generator().manual_seed(stack.seed)
        for i, step in enumerate(self.steps):
            for name, shape, scale, shift in parameters_of(step):
                values = torch.randn(shape, generator=self.generator, dtype=torch.float64) * scale + shift
                self.register_buffer(f"{name}_{i}", values.abs() + 0.1 if name == "variance" else values)

    def of_type(self, dtype: torch.dtype) -> "StackModule":
        return self.to(dtype) if dtype.is_floating_point else self

    def forward(self, x: torch.Tensor):
        values = [x]
        for i, step in enumerate(self.steps):
            values.append(self.apply_step(i, step, values))
        return values[-1]

    def given(self, i: int, name: str):
        return getattr(self, f"{name}_{i}", None)

    def apply_step(self, i: int, step: dict, values: list) -> torch.Tensor:
        x = values[step.get("of", -1)]
        spatial = x.dim() - 2
        match step["op"]:
            case "conv":
                function = (F.conv1d, F.conv2d, F.conv3d)[spatial - 1]
                return function(x, self.given(i, "weight"), self.given(i, "bias"), step["stride"], step["padding"], step["dilation"], step["groups"])
            case "deconv":
                function = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[spatial - 1]
                return function(x, self.given(i, "weight"), self.given(i, "bias"), step["stride"], step["padding"], step["output_padding"],
                                step["groups"], step["dilation"])
            case "max_pool":
                function = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[spatial - 1]
                return function(x, step["kernel"], step["stride"], step["padding"], step["dilation"], step["ceil"])
            case "avg_pool":
                function = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[spatial - 1]
                return function(x, step["kernel"], step["stride"], step["padding"], step["ceil"], step["count_padding"])
            case "adaptive_avg":
                return (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d)[spatial - 1](x, step["size"])
            case "adaptive_max":
                return (F.adaptive_max_pool1d, F.adaptive_max_pool2d, F.adaptive_max_pool3d)[spatial - 1](x, step["size"])
            case "mean":
                return x.mean(step["dims"], keepdim=True)
            case "amax":
                return x.amax(step["dims"], keepdim=True)
            case "batch_norm":
                return F.batch_norm(x, self.given(i, "mean"), self.given(i, "variance"), self.given(i, "weight"), self.given(i, "bias"))
            case "instance_norm":
                return F.instance_norm(x, weight=self.given(i, "weight"), bias=self.given(i, "bias"))
            case "group_norm":
                return F.group_norm(x, step["groups"], self.given(i, "weight"), self.given(i, "bias"))
            case "layer_norm":
                return F.layer_norm(x, step["shape"], self.given(i, "weight"), self.given(i, "bias"))
            case "transpose":
                return x.transpose(*step["dims"])
            case "cat":
                return torch.cat([values[k] for k in step["with"]], step["dim"])
            case "add":
                return x + values[step["with"]]
            case "mul":
                return x * values[step["with"]]
            case _:
                return getattr(torch, step["op"], getattr(F, step["op"], None))(x)


def parameters_of(step: dict):
    """Name, shape, scale and shift of each."""
    op = step["op"]
    if op in ("conv", "deconv"):
        channels, out, groups = step["in"], step["out"], step["groups"]
        shape = [out, channels // groups, *step["kernel"]] if op == "conv" else [channels, out // groups, *step["kernel"]]
        yield "weight", shape, 1 / math.sqrt(channels // groups * math.prod(step["kernel"])), 0.0
        if step["bias"]:
            yield "bias", [out], 0.5, 0.0
    elif op.endswith("_norm"):
        if op == "batch_norm":
            yield "mean", [step["in"]], 0.3, 0.0
            yield "variance", [step["in"]], 0.5, 0.0
        if step["affine"]:
            shape = step["shape"] if op == "layer_norm" else [step["in"]]
            yield "weight", shape, 0.3, 1.0
            yield "bias", shape, 0.5, 0.0


def divisors(*numbers: int) -> list[int]:
    return [i for i in range(1, min(numbers) + 1) if all(number % i == 0 for number in numbers)]


class Generator:
    def __init__(self, seed: int):
        self.chance = random.Random(seed)
        self.seed = seed

    def stack(self) -> Stack:
        chance = self.chance
        spatial = chance.choice((1, 2, 2, 2, 3))
        dtype = chance.choice(DTYPES)
        shape = [chance.choice((1, 1, 2, 3)), self.channels(), *(chance.choice(SIZES) for _ in range(spatial))]
        stack = Stack(shape, dtype, [], chance.random() < 0.2, chance.choice(("dense", "dense", "dense", "channels_last", "crosswise", "part")),
                      self.seed)
        values = [torch.zeros(shape, dtype=getattr(torch, dtype))]
        wanted = chance.randint(1, 6)
        for _ in range(4 * wanted):
            if len(stack.steps) < wanted:
                self.extend(stack, values)
        return stack

    def extend(self, stack: Stack, values: list) -> None:
        """One more step, unless PyTorch refuses it or it makes too much."""
        step = self.step(values, stack.dtype == "int64")
        module = StackModule(Stack(stack.shape, stack.dtype, [*[{"op": "relu"}] * len(stack.steps), step])).of_type(values[0].dtype)
        try:
            value = module.apply_step(len(stack.steps), step, values)
        except (RuntimeError, TypeError, ValueError, IndexError):
            return
        if 0 < value.numel() <= MOST_ELEMENTS:
            stack.steps.append(step)
            values.append(torch.zeros(value.shape, dtype=value.dtype))

    def channels(self) -> int:
        return self.chance.choice((1, 2, 3, 4, 5, 8, 16, self.chance.randint(1, 32)))

    def step(self, values: list, is_integer: bool) -> dict:
        moving = [self.transpose, self.cat, self.combine, self.max_pool, self.adaptive]
        others = [self.conv, self.conv, self.conv, self.deconv, self.avg_pool, self.mean, self.norm, self.activation]
        return self.chance.choice(moving if is_integer else moving + others)(values)

    def window(self, rank: int, sizes=(1, 2, 3, 3, 4, 5, 7)) -> list[int]:
        return [self.chance.choice(sizes)] * rank if self.chance.random() < 0.5 else [self.chance.choice(sizes) for _ in range(rank)]

    def convolution(self, x: torch.Tensor, op: str) -> dict:
        rank, channels, out = x.dim() - 2, x.shape[1], self.channels()
        if self.chance.random() < 0.25:  # depthwise, or nearly so
            out = channels * self.chance.choice((1, 1, 2))
        groups = self.chance.choice([1, 1, self.chance.choice(divisors(channels, out)), divisors(channels, out)[-1]])
        kernel = self.window(rank)
        dilation = self.window(rank, (1, 1, 1, 2, 3))
        return {"op": op, "in": channels, "out": out, "groups": groups, "kernel": kernel, "dilation": dilation,
                "stride": self.window(rank, (1, 1, 2, 3)),
                "padding": [self.padding_of(k, d) for k, d in zip(kernel, dilation)],
                "bias": self.chance.random() < 0.7}

    def conv(self, values: list) -> dict:
        return self.convolution(values[-1], "conv")

    def deconv(self, values: list) -> dict:
        step = self.convolution(values[-1], "deconv")
        step["output_padding"] = [self.chance.choice((0, max(s, d) - 1)) for s, d in zip(step["stride"], step["dilation"])]
        return step

    # PyTorch's own convolution (oneDNN, AVX-512) may crash where a whole window lies in the padding.
    def padding_of(self, kernel, dilation):
        reach = dilation * (kernel - 1)
        return self.chance.choice((0, reach // 2, reach // 2, min(self.chance.randint(0, 3), reach)))

    def pool(self, values: list, op: str) -> dict:
        rank = values[-1].dim() - 2
        kernel = self.window(rank, (1, 2, 2, 3, 3, 5))
        return {"op": op, "kernel": kernel, "stride": self.window(rank, (1, 2, 2, 3)), "padding": [self.chance.randint(0, k // 2) for k in kernel],
                "ceil": self.chance.random() < 0.3}

    def max_pool(self, values: list) -> dict:
        return {**self.pool(values, "max_pool"), "dilation": self.window(values[-1].dim() - 2, (1, 1, 1, 2))}

    def avg_pool(self, values: list) -> dict:
        return {**self.pool(values, "avg_pool"), "count_padding": self.chance.random() < 0.5}

    def adaptive(self, values: list) -> dict:
        rank = values[-1].dim() - 2
        sizes = [1] * rank if self.chance.random() < 0.4 else [self.chance.choice((1, 1, 2, 3, 5, None if rank > 1 else 8)) for _ in range(rank)]
        return {"op": self.chance.choice(("adaptive_avg", "adaptive_max")), "size": sizes}

    def mean(self, values: list) -> dict:
        axes = range(1, values[-1].dim())
        dims = list(axes)[1:] if self.chance.random() < 0.4 else self.chance.sample(axes, self.chance.randint(1, len(axes)))
        return {"op": self.chance.choice(("mean", "mean", "amax")), "dims": dims}

    def norm(self, values: list) -> dict:
        x = values[-1]
        op = self.chance.choice(("batch_norm", "instance_norm", "group_norm", "layer_norm"))
        step = {"op": op, "in": x.shape[1], "affine": self.chance.random() < 0.6}
        if op == "group_norm":
            step["groups"] = self.chance.choice(divisors(x.shape[1]))
        if op == "layer_norm":
            step["shape"] = list(x.shape[-self.chance.randint(1, x.dim() - 1):])
        return step

    def activation(self, values: list) -> dict:
        return {"op": self.chance.choice(ACTIVATIONS)}

    def transpose(self, values: list) -> dict:
        return {"op": "transpose", "dims": self.chance.sample(range(1 if self.chance.random() < 0.7 else 0, values[-1].dim()), 2)
                if values[-1].dim() > 2 else [0, 1]}

    def cat(self, values: list) -> dict:
        dim = self.chance.choice((1, 1, self.chance.randrange(values[-1].dim())))
        others = [i for i, value in enumerate(values) if value.dim() == values[-1].dim()]
        return {"op": "cat", "with": [self.chance.choice(others[-3:]), len(values) - 1], "dim": dim}

    def combine(self, values: list) -> dict:
        return {"op": self.chance.choice(("add", "mul")), "with": self.chance.randrange(len(values))}
