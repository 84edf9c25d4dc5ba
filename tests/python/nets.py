"""Small networks for the tests: document 002's LeNet as printed there, and some that show one thing each."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class LeNetFeatExtractor(nn.Module):
    def __init__(self):
        super(LeNetFeatExtractor, self).__init__()
        self.conv1 = nn.Conv2d(1, 6, 3)
        self.conv2 = nn.Conv2d(6, 16, 3)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), (2, 2))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return x


class LeNetClassifier(nn.Module):
    def __init__(self):
        super(LeNetClassifier, self).__init__()
        self.fc1 = nn.Linear(16 * 6 * 6, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        x = self.fc3(x)
        return x


class LeNet(nn.Module):
    def __init__(self):
        super(LeNet, self).__init__()
        self.feat = LeNetFeatExtractor()
        self.classifer = LeNetClassifier()

    def forward(self, x):
        x = self.feat(x)
        x = self.classifer(x)
        return x


def lenet(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return LeNet().eval()


def images(batch: int = 1, seed: int = 1) -> torch.Tensor:
    return torch.randn(batch, 1, 32, 32, generator=torch.Generator().manual_seed(seed))


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
