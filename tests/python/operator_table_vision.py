"""Lines of the operator table for torchvision's operators: pooling of regions, and convolutions at places of their own."""

import torch
import torchvision

from operator_case import Operator, t

VISION = torch.ops.torchvision


def _regions(numbers):
    """Regions of two images that reach beyond them, are empty, or stand on their head."""
    return torch.cat([(numbers[:, :1] > 0).to(numbers.dtype), numbers[:, 1:] * 4 + 4], 1)


def _align(ratio: int, aligned: bool):
    return lambda r, x: VISION.roi_align(x, _regions(r), 0.6, 3, 2, ratio, aligned)


def _deformed(*geometry: int, masked: bool = True):
    """x, offset, mask, weight, bias; stride, padding and dilation of both axes."""
    return lambda x, o, m, w, b: torchvision.ops.deform_conv2d(x, o, w, b, *(geometry[i:i + 2] for i in (0, 2, 4)), m if masked else None)


POOLED = ((t(5, 5), t(2, 12, 9, 11)), (t(3, 5, layout="transposed"), t(2, 6, 9, 7, layout="channels_last")), (t(0, 5), t(2, 6, 4, 4)))
REGIONS = [
    ("roi_align", _align(-1, False)), ("roi_align_aligned", _align(2, True)),
    ("ps_roi_align", lambda r, x: VISION.ps_roi_align(x, _regions(r), 0.6, 3, 2, 2)[0]),
    ("ps_roi_align_channels", lambda r, x: VISION.ps_roi_align(x, _regions(r), 0.6, 3, 2, 2)[1]),
    ("roi_pool", lambda r, x: VISION.roi_pool(x, _regions(r), 0.6, 3, 2)[0]), ("roi_pool_places", lambda r, x: VISION.roi_pool(x, _regions(r), 0.6, 3, 2)[1]),
    ("ps_roi_pool", lambda r, x: VISION.ps_roi_pool(x, _regions(r), 0.6, 3, 2)[0]),
    ("ps_roi_pool_channels", lambda r, x: VISION.ps_roi_pool(x, _regions(r), 0.6, 3, 2)[1]),
]


def _deformable(places: tuple[int, int], offset_groups: int, groups: int):
    taps = 2 * 3
    return ((t(2, 6, 9, 11), t(2, 2 * taps * offset_groups, *places), t(2, taps * offset_groups, *places), t(8, 6 // groups, 3, 2), t(8)),
            (t(0, 6, 9, 11), t(0, 2 * taps * offset_groups, *places), t(0, taps * offset_groups, *places), t(8, 6 // groups, 3, 2), t(8)))


TABLE = [
    *(Operator(name, f, POOLED) for name, f in REGIONS),
    Operator("deform_conv2d", _deformed(1, 1, 0, 0, 1, 1), _deformable((7, 10), 1, 1)),
    Operator("deform_conv2d_groups", _deformed(2, 1, 1, 2, 1, 2), _deformable((5, 13), 3, 2)),
    Operator("deform_conv2d_without_mask", _deformed(1, 3, 2, 0, 2, 1, masked=False), _deformable((9, 4), 2, 2)),
]
