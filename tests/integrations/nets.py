"""Small modules that the tests of integrations compile, and arrays for them."""

import numpy
import torch
import torchtrt
from torch import nn

LEAST, MOST = 2, 16


class Image(nn.Module):
    """[rows, 3, 16, 16] to [rows, 5], float32."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))

    def forward(self, image):
        return self.body(image)


class Two(nn.Module):
    """[rows, 4] and [rows, 3] to two results of [rows, 3], float32."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x, y):
        z = torch.relu(self.layer(x))
        return z, z + y


def compile_to(path, module, *sizes):
    """Compiles it for LEAST to MOST rows of these sizes; returns the module."""
    torch.manual_seed(0)
    module = module().eval()
    inputs = [torchtrt.Input(min_shape=[LEAST, *each], opt_shape=[8, *each], max_shape=[MOST, *each]) for each in sizes]
    torchtrt.compile(torch.jit.script(module), inputs=inputs).save(str(path))
    return module


def arrays(rows: int, *sizes) -> list[numpy.ndarray]:
    generator = numpy.random.default_rng(rows)
    return [generator.standard_normal((rows, *each), dtype=numpy.float32) for each in sizes]
