"""Square crops of the photographs that scikit-learn and scikit-image ship, as ImageNet's models take them.

Seeded. Each photograph is cut in two: crops to calibrate with come from its left part, those to evaluate from its right part, so no
pixel is in both. Only files are read: neither package is imported, which would bring a second OpenMP team into the process.
"""

import importlib.util
import pathlib
import random

import numpy
import torch
from PIL import Image

SIZE = 224
LEFT = 0.4  # of a photograph's width
MEAN, DEVIATION = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])

# Lists photographs by package and folder. Drawings, pages of text, medical pictures and the motorcycle's other eye are left out.
PHOTOGRAPHS = {
    ("sklearn", "datasets/images"): ["china.jpg", "flower.jpg"],
    ("skimage", "data"): ["astronaut.png", "brick.png", "camera.png", "chelsea.png", "coffee.png", "coins.png", "grass.png",
                          "gravel.png", "motorcycle_left.png", "rocket.jpg"],
}


def photographs() -> dict[str, Image.Image]:
    """Returns the photographs in RGB, by name."""
    found = {}
    for (package, folder), names in PHOTOGRAPHS.items():
        root = pathlib.Path(importlib.util.find_spec(package).submodule_search_locations[0]) / folder
        found |= {name: Image.open(root / name).convert("RGB") for name in names}
    return found


def _as_input(image: Image.Image) -> torch.Tensor:
    """float32 [3, SIZE, SIZE], normalised."""
    pixels = torch.from_numpy(numpy.array(image.resize((SIZE, SIZE), Image.BILINEAR), dtype=numpy.float32) / 255)
    return ((pixels - MEAN) / DEVIATION).permute(2, 0, 1)


def cut(count: int, calibration: bool, seed: int = 0) -> torch.Tensor:
    """`count` crops float32 [count, 3, SIZE, SIZE], the photographs in turn: from half of the part's shorter side to all of it,
    at random places, half of them mirrored."""
    chance = random.Random(f"{seed} {calibration}")
    pictures = list(photographs().values())
    crops = []
    for i in range(count):
        image = pictures[i % len(pictures)]
        border = round(image.width * LEFT)
        begin, end = (0, border) if calibration else (border, image.width)
        largest = min(end - begin, image.height)
        side = chance.randint(largest // 2, largest)
        x, y = chance.randint(begin, end - side), chance.randint(0, image.height - side)
        crop = image.crop((x, y, x + side, y + side))
        crops.append(_as_input(crop.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if chance.random() < 0.5 else crop))
    return torch.stack(crops)
