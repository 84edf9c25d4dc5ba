"""The 60 models of ways_in.py, as their libraries make them: keyword arguments, and results that are classes. Weights are random, and sizes small;
docs/performance.md has models at their full size."""

from collections.abc import Callable

import torch
from torch import nn

import catalog
import catalog_wide
from settling import settle, spread_heads

TEXT = """Deberta DebertaV2 XLMRoberta MPNet RoFormer ConvBert SqueezeBert FNet Funnel XLNet ModernBert Longformer Canine OPT GPTNeo GPTJ GPTNeoX
    Bloom Falcon Mistral Qwen2 Qwen3 Gemma Gemma2 Phi3 Olmo Cohere BioGpt Mamba Mixtral""".lower().split()
BOTH = "t5 bart pegasus m2m100 whisper clip detr segformer".split()
SEEN = ["beit of transformers", "dinov2 of transformers", "yolos of transformers", "swin of transformers", "swinv2 of transformers",
        "levit of transformers", "mobilevit of transformers", "focalnet of transformers", "wav2vec2", "wavlm", "perceiver", "patchtst"]
TIMM = "swin_tiny_patch4_window7_224 hiera_tiny_224 edgenext_xx_small convit_tiny".split()


def _detector(name: str, **options):
    import torchvision

    module = getattr(torchvision.models.detection, name)(weights=None, weights_backbone=None, num_classes=5, **options)
    settle(module, catalog.noise(2, 3, 96, 96), parts=module.backbone)
    pictures = catalog.images((96, 128), (128, 96))
    spread_heads(module, *pictures)
    return module, pictures


def _ssdlite():
    return _detector("ssdlite320_mobilenet_v3_large", score_thresh=0.0, topk_candidates=40, detections_per_img=10)


def _faster_rcnn():
    return _detector("fasterrcnn_mobilenet_v3_large_320_fpn", min_size=96, max_size=160, box_score_thresh=0.0, rpn_score_thresh=0.0,
                     rpn_post_nms_top_n_test=50, box_detections_per_img=20)


def _raft():
    import torchvision

    pictures = catalog.noise(2, 3, 128, 128), catalog.noise(2, 3, 128, 128, seed=2)
    module = torchvision.models.optical_flow.raft_small(weights=None)
    return settle(module, *pictures), (*pictures, 2)  # updates of the flow


def _picture(make: Callable[[], nn.Module], size: int):
    x = catalog.noise(2, 3, size, size)
    return settle(catalog_wide.awake(make()), x), (x,)


def _vision_transformer():
    from torchvision.models.vision_transformer import VisionTransformer

    return _picture(lambda: VisionTransformer(image_size=32, patch_size=8, num_layers=2, num_heads=4, hidden_dim=64, mlp_dim=128, num_classes=10), 32)


def _swin_v2():
    from torchvision.models import swin_transformer as swin

    return _picture(lambda: swin.SwinTransformer([4, 4], 32, [1, 1], [2, 2], [4, 4], num_classes=10, block=swin.SwinTransformerBlockV2,
                                                 downsample_layer=swin.PatchMergingV2), 32)


def _maxvit():
    from torchvision.models import MaxVit

    return _picture(lambda: MaxVit((64, 64), 16, 4, [16, 32], [1, 1], head_dim=8, stochastic_depth_prob=0.0, num_classes=10), 64)


TORCHVISION = {"ssdlite": _ssdlite, "faster r-cnn": _faster_rcnn, "raft": _raft, "vision transformer": _vision_transformer, "swin v2": _swin_v2,
               "maxvit": _maxvit}
NAMES = [*TEXT, *BOTH, *SEEN, *(f"{name} of timm" for name in TIMM), *(f"{name} of torchvision" for name in TORCHVISION)]


def whole(name: str) -> tuple[nn.Module, tuple, dict]:
    """The library's own module, and the positional and the keyword arguments of a call. Batches are of two."""
    torch.manual_seed(0)
    library = name.removesuffix(" of torchvision")
    if library in TORCHVISION:
        module, arguments = TORCHVISION[library]()
        return module.eval(), arguments, {}
    case = catalog_wide.WIDE[f"{name}, traced"]()
    module, (arguments,) = case.reference, case.calls
    if isinstance(module, catalog.FirstOnly):
        return module.inner.eval(), (), dict(zip(module.names, arguments))
    return module.eval(), arguments, {}


def of_batch(value, rows: int):
    """The same arguments for so many rows: those that there are, again and again."""
    if isinstance(value, torch.Tensor):
        return value[torch.arange(rows, device=value.device) % len(value)]
    if isinstance(value, dict):
        return {name: of_batch(each, rows) for name, each in value.items()}
    if isinstance(value, tuple):
        return tuple(of_batch(each, rows) for each in value)
    return [value[i % len(value)] for i in range(rows)] if isinstance(value, list) else value


def to(value, device: str):
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, dict):
        return {name: to(each, device) for name, each in value.items()}
    return type(value)(to(each, device) for each in value) if isinstance(value, (list, tuple)) else value
