"""Models of libraries by torch.export and by torch.compile, with the sizes, caches and classes that they are used with."""

import os

import pytest
import torch
import torchvision
from same import assert_same, saved

import catalog
import catalog_wide
import torchtrt
import ways_in
import ways_in_models
import ways_in_worker
from settling import settle, spread_heads
from torchtrt import Input

os.environ.setdefault("HF_HUB_OFFLINE", "1")
IDS = Input(min_shape=[1, 2], opt_shape=[2, 12], max_shape=[8, 64], dtype=torch.int64)
SIZES = [(2, 12), (1, 2), (3, 7), (8, 64)]


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)


def text_of(rows, length):
    ids = torch.randint(5, 90, (rows, length))
    mask = torch.ones_like(ids)
    mask[-1, length // 2 + 1:] = 0
    return {"input_ids": ids, "attention_mask": mask}


def text_model(name):
    module, _, _ = ways_in_models.whole(name)
    return module


@pytest.mark.parametrize("name", ["qwen2", "debertav2", "modernbert"])
def test_a_text_model_is_one_engine_for_all_lengths(name):
    model = text_model(name)
    with pytest.raises(torchtrt.CompileError, match="cannot be scripted"):
        torchtrt.compile(model, ir="ts", inputs=[IDS])
    compiled = torchtrt.compile(model, kwarg_inputs={"input_ids": IDS, "attention_mask": IDS})
    report = torchtrt.report(compiled)
    assert (report.engine_segments, report.torch_segments) == (1, 0)
    assert not report.guessed_sizes
    for each in (compiled, saved(compiled)):
        for size in SIZES:
            named = text_of(*size)
            with torch.no_grad():
                assert_same(each(**named).last_hidden_state, model(**named).last_hidden_state)


@pytest.mark.parametrize("name", ["qwen2", "bart"])
def test_torch_compile_has_one_graph_for_all_lengths(name):
    model = text_model(name)
    compiled = torch.compile(model, backend="torchtrt")
    with torch.no_grad(), ways_in_worker.Watch() as watch:
        for size in [*SIZES, (5, 33), (4, 9)]:
            named = text_of(*size)
            if name == "bart":
                named["decoder_input_ids"] = named["input_ids"][:, :-1]
            assert_same(compiled(**named).last_hidden_state, model(**named).last_hidden_state)
    # One for the first sizes, one for each of the sizes that vary, and those of 1.
    assert len(watch.reports) <= 6 and not watch.lines
    assert all(report.engine_segments == 1 for report in watch.reports)


def test_generated_text_is_that_of_eager():
    import transformers

    config = transformers.GPT2Config(vocab_size=99, bos_token_id=1, eos_token_id=2, pad_token_id=0, **{**catalog_wide.N_NAMES, "use_cache": True})
    model = transformers.GPT2LMHeadModel(config).eval()
    ids = text_of(2, 6)["input_ids"]
    expected = model.generate(ids, max_new_tokens=16, do_sample=False)
    model.forward = torch.compile(model.forward, backend="torchtrt")
    with ways_in_worker.Watch() as watch:
        assert torch.equal(model.generate(ids, max_new_tokens=16, do_sample=False), expected)
    assert len(watch.reports) == 3 and not watch.lines  # the prompt, the first word, all others
    assert all(report.engine_segments == 1 for report in watch.reports)


@pytest.mark.parametrize("name", ["swin_tiny_patch4_window7_224 of timm", "segformer"])
def test_a_picture_model_takes_a_range_of_batches(name):
    model, arguments, named = ways_in_models.whole(name)
    (picture,) = [*arguments, *named.values()]
    batch = Input(min_shape=[1, *picture.shape[1:]], opt_shape=list(picture.shape), max_shape=[4, *picture.shape[1:]])
    compiled = torchtrt.compile(model, ir="export", inputs=[batch])
    assert torchtrt.report(compiled).engine_segments == 1
    for rows in (1, 2, 3):
        x = torch.randn(rows, *picture.shape[1:])
        with torch.no_grad():
            found, expected = compiled(x), model(x)
        assert_same(*(each if isinstance(each, torch.Tensor) else each.logits for each in (found, expected)))


def test_a_detector_breaks_into_graphs_that_are_compiled():
    model = torchvision.models.detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=5, score_thresh=0.0,
                                                                       topk_candidates=40, detections_per_img=10)
    pictures = [torch.rand(3, 96, 128), torch.rand(3, 80, 112)]
    settle(model, catalog.noise(2, 3, 96, 96), parts=model.backbone)
    spread_heads(model, pictures)
    compiled = torch.compile(model, backend="torchtrt")
    with torch.no_grad(), ways_in_worker.Watch() as watch:
        found, expected = compiled(pictures), model(pictures)
        for ours, theirs in zip(found, expected, strict=True):
            assert torch.equal(ours["labels"], theirs["labels"])
            assert_same(ours["scores"], theirs["scores"])
            assert_same(ours["boxes"], theirs["boxes"])
    assert sum(report.engine_segments for report in watch.reports) >= 1


def test_every_model_of_the_list_is_one():
    assert len(ways_in_models.NAMES) == len(set(ways_in_models.NAMES)) == 60
    assert all(f"{name}, traced" in catalog_wide.WIDE for name in ways_in_models.NAMES if not name.endswith("of torchvision"))


def asked(model, folder) -> ways_in_worker.Asked:
    return ways_in_worker.Asked(model, "cpu", sorted(os.sched_getaffinity(0)), times=False, inductor=False, folder=str(folder))


def test_a_model_that_fails_or_takes_too_long_is_a_row(tmp_path):
    row = ways_in.measured(asked("nobody's", tmp_path), 300, f"{tmp_path}/log", set())
    assert row["failed"] == ["loading: KeyError: \"nobody's, traced\""]
    row = ways_in.measured(asked("mpnet", tmp_path), 0.5, f"{tmp_path}/log", set())
    assert row["failed"][0].endswith(": took too long")


def test_a_model_is_measured_in_its_process(tmp_path):
    row = ways_in.measured(asked("mpnet", tmp_path), 300, f"{tmp_path}/log", set())
    assert row["failed"] == [] and row["scripts"] is False
    assert row["torchtrt"]["engines"] == row["torchtrt"]["graphs"] == 1 and row["torchtrt"]["breaks"] == row["torchtrt"]["in_eager"] == 0
    assert row["export"]["engines"] == 1 and ways_in.largest_difference(row) < 1e-5
    assert row["torchtrt batches"]["compiled"] == [0, 1, 0, 0]


def test_jobs_share_the_cores():
    assert ways_in.shares([0, 1, 2, 3, 4, 5, 6], 3) == [[0, 1], [2, 3], [4, 5]]


def test_the_ratio_is_to_the_better_of_those_that_are_right():
    ms = {way: {"median": value} for way, value in (("eager", 6.0), ("inductor", 3.0), ("torchtrt", 2.0))}
    right, wrong = ({"ms": ms, "inductor": {"difference": difference}} for difference in (1e-6, 0.5))
    assert ways_in.ratio(right, ways_in.best_of_others(right)) == 1.5
    assert ways_in.ratio(wrong, ways_in.best_of_others(wrong)) == 3.0
    assert ways_in.ratio({}, ways_in.best_of_others({})) is None
