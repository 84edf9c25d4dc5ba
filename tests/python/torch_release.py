"""What the tests know of the release of PyTorch that they run with; src/libtorch/versions.h is that of the sources."""

import re
from pathlib import Path

import torch

# The oldest C++ that libtorch's headers take: a program that includes them is compiled as that.
_DEMAND = (Path(torch.__file__).parent / "include/ATen/ATen.h").read_text(encoding="utf-8")
OLDEST_CPP = "c++20" if "C++20 or later compatible compiler is required" in _DEMAND else "c++17"

_REQUIREMENTS = (Path(__file__).parents[2] / "requirements.txt").read_text(encoding="utf-8")
PINNED = re.search(r"^torch==(.+)$", _REQUIREMENTS, re.MULTILINE)[1]
IS_PINNED = torch.__version__.partition("+")[0] == PINNED
