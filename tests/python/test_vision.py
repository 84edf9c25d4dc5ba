"""libtorchtrt_vision against torchvision: the same numbers, dtypes and refusals, and models that run where torchvision is not."""

import os
import pathlib
import subprocess
import sys

import pytest
import torch
import torchvision

import torchtrt.runtime

# Asked first: our library registers under torchvision's names what torchvision has not.
THEIRS_HAS_ROTATED_BOXES = hasattr(torch.ops.torchvision, "box_iou_rotated")
torchtrt.runtime.load_vision()
OURS, THEIRS = torch.ops.torchtrt_vision, torch.ops.torchvision
BUILD = pathlib.Path(os.environ["TORCHTRT_BUILD"])
DTYPES = [torch.float32, torch.float64, torch.float16]


def boxes(count, generator, size=40.0):
    corners = torch.rand(count, 2, 2, generator=generator) * size
    return torch.cat([corners.amin(1), corners.amax(1)], 1)


def regions(count, images, generator, size=40.0):
    """Regions that reach beyond the images, are empty, or stand on their head."""
    index = torch.randint(0, images, (count, 1), generator=generator).float()
    places = boxes(count, generator, size) - 5
    places[1::4] = places[1::4][:, [2, 3, 0, 1]]
    places[2::4, 2:] = places[2::4, :2]
    return torch.cat([index, places], 1)


def identical(actual, expected):
    for ours, theirs in zip(actual if isinstance(actual, tuple) else [actual], expected if isinstance(expected, tuple) else [expected]):
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape and ours.is_contiguous()
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_nms(dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    dets = boxes(10 * seed, generator).to(dtype)
    scores = (torch.rand(10 * seed, generator=generator) * 20).round().to(dtype)  # many are equal
    for threshold in (0.0, 0.3, 0.5, 1.0):
        identical(OURS.nms(dets, scores, threshold), THEIRS.nms(dets, scores, threshold))


def test_nms_of_boxes_without_area_infinite_and_not_a_number():
    nan, inf = float("nan"), float("inf")
    dets = torch.tensor([[0, 0, 0, 0], [0, 0, 0, 0], [1, 1, inf, inf], [0, nan, 4, 4], [0, 0, 4, 4], [3, 3, 1, 1], [0, 0, 4, nan]])
    for scores in (torch.arange(7.0), torch.tensor([1, nan, 2, inf, nan, -inf, 0])):
        for threshold in (0.0, 0.5):
            identical(OURS.nms(dets, scores, threshold), THEIRS.nms(dets, scores, threshold))


def turned_boxes(count, seed, dtype=torch.float32):
    """Boxes as (center x, center y, width, height, degrees) that overlap often."""
    numbers = torch.rand(count, 5, generator=torch.Generator().manual_seed(seed), dtype=dtype)
    return numbers * torch.tensor([9, 9, 8, 8, 720], dtype=dtype) + torch.tensor([0, 0, 0.5, 0.5, -360], dtype=dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rotated_boxes_that_stand_upright_overlap_as_others_do(dtype):
    a, b = turned_boxes(30, 1, dtype), turned_boxes(20, 2, dtype)
    plain = [torch.cat([each[:, :2] - each[:, 2:4] / 2, each[:, :2] + each[:, 2:4] / 2], 1) for each in (a, b)]
    expected = torchvision.ops.box_iou(*plain).float()
    assert (expected > 0).any() and (expected == 0).any()
    a[:, 4], b[:, 4] = 0, 180
    torch.testing.assert_close(OURS.box_iou_rotated(a, b), expected, rtol=1e-5, atol=1e-6)
    quarter = a[:, [0, 1, 3, 2, 4]] + torch.tensor([0, 0, 0, 0, -90], dtype=dtype)
    torch.testing.assert_close(OURS.box_iou_rotated(quarter, b), expected, rtol=1e-5, atol=1e-6)


def test_rotated_boxes_of_known_overlap():
    square, turned, none = [0.0, 0, 2, 2, 0], [0.0, 0, 2, 2, 45], [0.0, 0, 0, 2, 0]
    octagon = 8 * (2**0.5 - 1)  # its area: a square of side 2 and the same turned by 45 degrees
    bar = [2.0, -2, 9, 0.5, 45]  # lies along the turned diagonal that goes up to the right, as y points down
    crossing = OURS.box_iou_rotated(torch.tensor([square, turned]), torch.tensor([turned, none, [5.0, 5, 2, 2, 30]]))
    torch.testing.assert_close(crossing, torch.tensor([[octagon / (8 - octagon), 0, 0], [1, 0, 0]]))
    other_way = [2.0, -2, 9, 0.5, -45]
    along = OURS.box_iou_rotated(torch.tensor([square]), torch.tensor([bar, other_way]))[0]
    assert along[0] > 0.1 and along[1] == 0
    nan = OURS.box_iou_rotated(torch.full((2, 5), float("nan")), torch.tensor([square, bar]))
    assert nan.shape == (2, 2) and not (nan > 0).any()
    for shape in ((0, 3), (3, 0)):
        identical(OURS.box_iou_rotated(torch.zeros(shape[0], 5), torch.zeros(shape[1], 5)), torch.zeros(shape))


@pytest.mark.skipif(not THEIRS_HAS_ROTATED_BOXES, reason="this release of torchvision has no rotated boxes")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("seed", range(10))
def test_rotated_boxes_overlap_as_torchvision_says(seed, dtype):
    a, b = turned_boxes(40, seed, dtype), turned_boxes(30, seed + 100, dtype)
    actual, expected = OURS.box_iou_rotated(a, b), THEIRS.box_iou_rotated(a, b)
    assert actual.dtype == expected.dtype == torch.float32
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("layout", [lambda x: x, lambda x: x.to(memory_format=torch.channels_last), lambda x: x.transpose(2, 3)])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sampling_ratio", [-1, 0, 1, 2, 3])
@pytest.mark.parametrize("aligned", [False, True])
def test_roi_align(dtype, sampling_ratio, aligned, layout):
    generator = torch.Generator().manual_seed(1)
    images = layout(torch.randn(3, 6, 17, 23, generator=generator).to(dtype))
    rois = regions(12, 3, generator).to(dtype)
    for scale, height, width in ((1.0, 3, 2), (0.25, 7, 7), (0.51, 1, 4)):
        arguments = (images, rois, scale, height, width, sampling_ratio, aligned)
        identical(OURS.roi_align(*arguments), THEIRS.roi_align(*arguments))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sampling_ratio", [-1, 0, 1, 2])
def test_ps_roi_align(dtype, sampling_ratio):
    generator = torch.Generator().manual_seed(2)
    images = torch.randn(2, 24, 17, 23, generator=generator).to(dtype)
    rois = regions(12, 2, generator).to(dtype)
    for scale, height, width in ((1.0, 3, 2), (0.25, 2, 2), (0.51, 1, 4)):
        arguments = (images, rois, scale, height, width, sampling_ratio)
        identical(OURS.ps_roi_align(*arguments), THEIRS.ps_roi_align(*arguments))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["roi_pool", "ps_roi_pool"])
def test_pooling(name, dtype):
    generator = torch.Generator().manual_seed(3)
    images = torch.randn(2, 24, 17, 23, generator=generator).to(dtype)
    images[0, :, :8] = float("-inf")
    images[1, :3, 4] = float("nan")
    rois = regions(16, 2, generator).to(dtype)
    for scale, height, width in ((1.0, 3, 2), (0.25, 2, 2), (0.51, 1, 4)):
        arguments = (images, rois, scale, height, width)
        identical(getattr(OURS, name)(*arguments), getattr(THEIRS, name)(*arguments))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("use_mask", [False, True])
@pytest.mark.parametrize("geometry", [(1, 1, 0, 0, 1, 1), (2, 1, 1, 2, 1, 2), (1, 3, 2, 0, 2, 1)])
def test_deform_conv2d(dtype, use_mask, geometry):
    generator = torch.Generator().manual_seed(4)
    groups, offset_groups, kernel_h, kernel_w = 2, 3, 3, 2
    stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w = geometry
    out_h = (9 + 2 * pad_h - dilation_h * (kernel_h - 1) - 1) // stride_h + 1
    out_w = (11 + 2 * pad_w - dilation_w * (kernel_w - 1) - 1) // stride_w + 1

    def random(*shape):
        return torch.randn(shape, generator=generator).to(dtype)

    mask = random(3, offset_groups * kernel_h * kernel_w, out_h, out_w) if use_mask else torch.zeros(3, 1, dtype=dtype)
    arguments = (random(3, 6, 9, 11), random(8, 3, kernel_h, kernel_w),
                 2 * random(3, offset_groups * 2 * kernel_h * kernel_w, out_h, out_w), mask, random(8),
                 *geometry, groups, offset_groups, use_mask)
    actual, expected = OURS.deform_conv2d(*arguments), THEIRS.deform_conv2d(*arguments)
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    tolerance = {torch.float32: 1e-5, torch.float64: 1e-12, torch.float16: 1e-2}[dtype]
    assert (actual - expected).abs().max() <= tolerance * expected.abs().max()


def test_nothing_in_gives_nothing_out():
    images, none = torch.randn(2, 8, 5, 5), torch.zeros(0, 5)
    identical(OURS.nms(torch.zeros(0, 4), torch.zeros(0), 0.5), THEIRS.nms(torch.zeros(0, 4), torch.zeros(0), 0.5))
    identical(OURS.roi_align(images, none, 1.0, 2, 2, -1, False), THEIRS.roi_align(images, none, 1.0, 2, 2, -1, False))
    identical(OURS.ps_roi_align(images, none, 1.0, 2, 2, -1), THEIRS.ps_roi_align(images, none, 1.0, 2, 2, -1))
    identical(OURS.roi_pool(images, none, 1.0, 2, 2), THEIRS.roi_pool(images, none, 1.0, 2, 2))
    identical(OURS.ps_roi_pool(images, none, 1.0, 2, 2), THEIRS.ps_roi_pool(images, none, 1.0, 2, 2))
    deform = (torch.zeros(0, 2, 4, 4), torch.zeros(3, 2, 1, 1), torch.zeros(0, 2, 4, 4), torch.zeros(0, 1), torch.zeros(3),
              1, 1, 0, 0, 1, 1, 1, 1, False)
    identical(OURS.deform_conv2d(*deform), THEIRS.deform_conv2d(*deform))


IMAGES, ROIS = torch.zeros(1, 4, 5, 5), torch.zeros(2, 5)
REFUSED = {
    "nms of boxes of three numbers": ("nms", (torch.zeros(3, 3), torch.zeros(3), 0.5)),
    "nms of flat boxes": ("nms", (torch.zeros(4), torch.zeros(1), 0.5)),
    "nms with scores of two dimensions": ("nms", (torch.zeros(3, 4), torch.zeros(3, 1), 0.5)),
    "nms with too few scores": ("nms", (torch.zeros(3, 4), torch.zeros(2), 0.5)),
    "nms of two dtypes": ("nms", (torch.zeros(3, 4), torch.zeros(3, dtype=torch.float64), 0.5)),
    "nms of integers": ("nms", (torch.zeros(3, 4, dtype=torch.int32), torch.zeros(3, dtype=torch.int32), 0.5)),
    "nms of halves": ("nms", (torch.zeros(3, 4).half(), torch.zeros(3).half(), 0.5)),
    **({"box_iou_rotated of four numbers": ("box_iou_rotated", (torch.zeros(3, 4), torch.zeros(3, 4))),
        "box_iou_rotated of two dtypes": ("box_iou_rotated", (torch.zeros(3, 5), torch.zeros(3, 5).double()))}
       if THEIRS_HAS_ROTATED_BOXES else {}),
    "roi_align of four numbers": ("roi_align", (IMAGES, ROIS[:, :4], 1.0, 2, 2, 1, False)),
    "roi_align of two dtypes": ("roi_align", (IMAGES, ROIS.double(), 1.0, 2, 2, 1, False)),
    "roi_align of integers": ("roi_align", (IMAGES.int(), ROIS.int(), 1.0, 2, 2, 1, False)),
    "ps_roi_align of channels that cells cannot share": ("ps_roi_align", (IMAGES, ROIS, 1.0, 3, 2, 1)),
    "ps_roi_align of four numbers": ("ps_roi_align", (IMAGES, ROIS[:, :4], 1.0, 2, 2, 1)),
    "roi_pool of two dtypes": ("roi_pool", (IMAGES, ROIS.double(), 1.0, 2, 2)),
    "ps_roi_pool of channels that cells cannot share": ("ps_roi_pool", (IMAGES, ROIS, 1.0, 3, 2)),
    **{f"deform_conv2d with {what}": ("deform_conv2d", (*tensors, torch.zeros(3), *numbers, False)) for what, tensors, numbers in [
        ("a flat image", (torch.zeros(4, 4, 4), torch.zeros(3, 4, 1, 1), torch.zeros(1, 2, 4, 4), torch.zeros(1)), (1, 1, 0, 0, 1, 1, 1, 1)),
        ("an offset too small", (torch.zeros(1, 4, 4, 4), torch.zeros(3, 4, 1, 1), torch.zeros(1, 2, 3, 4), torch.zeros(1)), (1, 1, 0, 0, 1, 1, 1, 1)),
        ("offset groups that channels cannot share", (torch.zeros(1, 4, 4, 4), torch.zeros(3, 4, 1, 1), torch.zeros(1, 6, 4, 4), torch.zeros(1)), (1, 1, 0, 0, 1, 1, 1, 3)),
        ("a weight for other channels", (torch.zeros(1, 4, 4, 4), torch.zeros(3, 3, 1, 1), torch.zeros(1, 2, 4, 4), torch.zeros(1)), (1, 1, 0, 0, 1, 1, 1, 1)),
        ("a kernel larger than the image", (torch.zeros(1, 4, 4, 4), torch.zeros(3, 4, 5, 5), torch.zeros(1, 50, 1, 1), torch.zeros(1)), (1, 1, 0, 0, 1, 1, 1, 1)),
    ]},
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_torchvision_refuses_is_refused(case):
    name, arguments = REFUSED[case]
    for library in (THEIRS, OURS):
        with pytest.raises((RuntimeError, NotImplementedError, ValueError)):
            getattr(library, name)(*arguments)


def test_regions_of_four_numbers_are_an_error_for_pooling_too():
    with pytest.raises(RuntimeError, match=r"roi_pool: expected regions of shape \[k, 5\], got \[2, 4\]"):
        OURS.roi_pool(IMAGES, ROIS[:, :4], 1.0, 2, 2)


def test_a_stride_of_0_is_an_error_and_no_crash():
    deform = (torch.zeros(1, 4, 4, 4), torch.zeros(3, 4, 1, 1), torch.zeros(1, 2, 4, 4), torch.zeros(1), torch.zeros(3))
    with pytest.raises(RuntimeError, match="strides and dilations of at least 1"):
        OURS.deform_conv2d(*deform, 0, 1, 0, 0, 1, 1, 1, 1, False)


@pytest.mark.parametrize("index", [-1.0, 1.0, float("nan"), float("inf")])
def test_an_image_that_is_not_there_is_an_error_and_no_crash(index):
    rois = torch.tensor([[index, 0, 0, 3, 3]])
    with pytest.raises(RuntimeError, match="a region names an image that is not there: the batch has 1"):
        OURS.roi_align(IMAGES, rois, 1.0, 2, 2, 1, False)


def test_coordinates_that_are_no_numbers_stay_within_the_image():
    nan, inf = float("nan"), float("inf")
    rois = torch.tensor([[0, nan, 0, 3, 3], [0, 0, 0, inf, 3], [0, -inf, 0, 3, 3], [0, 1e30, 0, 2e30, 3]])
    for ratio in (-1, 2):
        OURS.roi_align(torch.ones(1, 4, 5, 5), rois, 1.0, 2, 2, ratio, True)
        OURS.ps_roi_align(torch.ones(1, 4, 5, 5), rois, 1.0, 2, 2, ratio)
    assert OURS.roi_align(torch.ones(1, 4, 5, 5), rois, 1.0, 2, 2, 2, True)[0].isnan().all()
    OURS.roi_pool(torch.ones(1, 4, 5, 5), rois, 1.0, 2, 2)
    OURS.ps_roi_pool(torch.ones(1, 4, 5, 5), rois, 1.0, 2, 2)


def test_torchvisions_names_stay_torchvisions_where_it_is_loaded():
    assert "torchvision/csrc" in torch._C._dispatch_dump("torchvision::nms").replace("\\", "/")
    assert "torchvision/csrc" not in torch._C._dispatch_dump("torchtrt_vision::nms")


WITHOUT_TORCHVISION = """
import sys
sys.modules["torchvision"] = None
import importlib.util, torch
importlib.util.find_spec, find = lambda name, *rest: None if name == "torchvision" else find(name, *rest), importlib.util.find_spec
import torchtrt.runtime
torchtrt.runtime.load_vision()
module = torch.jit.load(sys.argv[1])
torch.save(module(*torch.load(sys.argv[2])), sys.argv[3])
"""


class Proposals(torch.nn.Module):
    """All operators that detection models call, in one scripted module."""

    def forward(self, boxes, scores, images, offset, weight):
        kept = torchvision.ops.nms(boxes, scores, 0.4)
        rois = torch.cat([torch.zeros_like(boxes[kept][:, :1]), boxes[kept]], 1)
        aligned = torchvision.ops.roi_align(images, rois, [3, 3], 0.5, 2, True)
        pooled = torchvision.ops.roi_pool(images, rois, [3, 3], 0.5)
        by_position = torchvision.ops.ps_roi_align(images, rois, 3, 0.5) + torchvision.ops.ps_roi_pool(images, rois, 3, 0.5)
        return kept, aligned, pooled, by_position, torchvision.ops.deform_conv2d(images, offset, weight, padding=(1, 1))


@pytest.fixture(scope="module")
def proposals(tmp_path_factory):
    """Saved module and arguments, with torchvision's own results."""
    folder = tmp_path_factory.mktemp("proposals")
    generator = torch.Generator().manual_seed(5)
    arguments = [boxes(30, generator), torch.rand(30, generator=generator), torch.randn(1, 9, 20, 20, generator=generator),
                 torch.randn(1, 18, 20, 20, generator=generator), torch.randn(4, 9, 3, 3, generator=generator)]
    module = torch.jit.script(Proposals())
    module.save(str(folder / "module.ts"))
    torch.save(arguments, folder / "arguments.pt")
    return folder, module(*arguments)


def compare(results, expected):
    assert len(results) == len(expected) == 5
    for actual, reference in zip(results, expected):
        torch.testing.assert_close(actual, reference, rtol=1e-5, atol=1e-5 * reference.abs().max().item())


def test_a_cpp_process_runs_the_operators_without_python(proposals):
    folder, expected = proposals
    done = subprocess.run([BUILD / "bin" / "runtime_runner", folder / "module.ts", folder / "arguments.pt", folder / "results.pt",
                           "--library", BUILD / "lib" / "libtorchtrt_vision.so", "--maps"], capture_output=True, text=True, check=True)
    assert "libtorchtrt_vision" in done.stdout and "libpython" not in done.stdout and "libtorch_python" not in done.stdout
    compare(torch.load(folder / "results.pt"), expected)


def test_a_python_process_runs_the_operators_without_torchvision(proposals):
    folder, expected = proposals
    subprocess.run([sys.executable, "-c", WITHOUT_TORCHVISION, folder / "module.ts", folder / "arguments.pt", folder / "results.pt"],
                   capture_output=True, text=True, check=True)
    compare(torch.load(folder / "results.pt"), expected)


def test_without_the_library_the_message_names_it(proposals):
    folder, _ = proposals
    done = subprocess.run([BUILD / "bin" / "torchtrtc", "check", folder / "module.ts"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "libtorchtrt_vision.so" in done.stderr + done.stdout
