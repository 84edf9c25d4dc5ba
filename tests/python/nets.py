"""Small networks for the tests: document 002's LeNet, and some that show one thing each."""

import models
import torch
import torch.nn as nn


def lenet(seed: int = 0) -> nn.Module:
    return models.build("lenet", seed)


def images(batch: int = 1, seed: int = 1) -> torch.Tensor:
    return models.sample("lenet", batch, seed)


class Pair(nn.Module):
    """Takes and gives collections."""

    def forward(self, pair: tuple[torch.Tensor, torch.Tensor], scale: float = 2.0) -> tuple[torch.Tensor, list[torch.Tensor]]:
        a, b = pair
        total = torch.relu(a + b)
        return total, [a * b, total]


class Named(nn.Module):
    """Gives a dictionary."""

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        y = torch.relu(x)
        return {"relu": y, "twice": y + y}


class Unsupported(nn.Module):
    """Calls operators that have no converter."""

    def forward(self, x):
        x = torch.special.bessel_j0(x)
        return torch.special.bessel_j1(torch.relu(x))


class Mixed(nn.Module):
    """An engine, an operator that stays in PyTorch, an engine that a loop calls three times."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(32, 64), nn.Linear(64, 64)

    def forward(self, x):
        x = torch.linalg.inv(torch.eye(64) + 0.001 * torch.relu(self.first(x)))
        for _ in range(int(x.isnan().sum()) + 3):
            x = torch.tanh(torch.relu(self.second(x)) + x)
        return x
