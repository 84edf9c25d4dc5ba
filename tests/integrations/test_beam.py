"""Apache Beam's RunInference with compiled files: equal results, batches within the range, a model that is replaced, and what does not fit."""

import pickle

import apache_beam as beam
import numpy
import pytest
import torch
import torchtrt
from apache_beam.ml.inference.base import KeyedModelHandler, RunInference
from apache_beam.testing.test_pipeline import TestPipeline
from apache_beam.testing.util import assert_that
from nets import MOST, Image, Two, arrays, compile_to

from torchtrt.integrations.beam import ModelHandler


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    path = tmp_path_factory.mktemp("beam") / "image.ts"
    return path, compile_to(path, Image, [3, 16, 16])


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    path = tmp_path_factory.mktemp("beam") / "two.ts"
    return path, compile_to(path, Two, [4], [3])


def close_to(expected, kind):
    """Checks keyed results: all of `kind`, and each what the module gives for its row."""
    def check(results):
        assert sorted(key for key, _ in results) == list(range(len(expected)))
        for key, result in results:
            assert type(result.inference) is kind
            torch.testing.assert_close(torch.as_tensor(result.inference), expected[key])

    return check


@pytest.mark.parametrize("kind", [numpy.ndarray, torch.Tensor])
def test_a_pipeline_gives_what_the_module_gives(image, kind):
    path, module = image
    (images,) = arrays(50, [3, 16, 16])
    rows = [(i, each if kind is numpy.ndarray else torch.from_numpy(each)) for i, each in enumerate(images)]
    with torch.no_grad():
        expected = module(torch.from_numpy(images))
    with TestPipeline() as pipeline:
        results = pipeline | beam.Create(rows) | RunInference(KeyedModelHandler(ModelHandler(path)))
        assert_that(results, close_to(expected, kind))


def test_mappings_and_several_results(two):
    path, module = two
    x, y = arrays(20, [4], [3])
    handler = ModelHandler(path)
    results = list(handler.run_inference([{"x": a, "y": b} for a, b in zip(x, y)], handler.load_model()))
    for i, expected in enumerate(zip(*module(torch.from_numpy(x), torch.from_numpy(y)))):
        for actual, wanted in zip(results[i].inference, expected):
            torch.testing.assert_close(torch.from_numpy(actual), wanted)
    assert results[0].model_id == str(path)


def test_batches_follow_the_range_of_the_module(image):
    path, _ = image
    assert ModelHandler(path).batch_elements_kwargs() == {"max_batch_size": MOST}
    assert ModelHandler(path, min_batch_size=4).batch_elements_kwargs() == {"min_batch_size": 4, "max_batch_size": MOST}
    assert ModelHandler(path, max_batch_size=100).batch_elements_kwargs() == {"max_batch_size": 100}
    assert ModelHandler("/on/workers/alone.ts").batch_elements_kwargs() == {}


def test_more_rows_than_a_call_takes_and_fewer(image):
    path, module = image
    handler = ModelHandler(path, max_batch_size=100)
    model = handler.load_model()
    for rows in (1, MOST + 1, 100):
        (images,) = arrays(rows, [3, 16, 16])
        actual = numpy.stack([each.inference for each in handler.run_inference(list(images), model)])
        torch.testing.assert_close(torch.from_numpy(actual), module(torch.from_numpy(images)))


def test_the_state_is_the_path(image):
    state = pickle.dumps(ModelHandler(image[0], threads=1))
    assert len(state) < 1000 and str(image[0]).encode() in state
    assert pickle.loads(state).load_model().threads == 1


def test_another_model_takes_the_place(image, tmp_path):
    path, _ = image
    other = tmp_path / "other.ts"
    torch.manual_seed(1)
    module = Image().eval()
    torchtrt.compile(torch.jit.script(module), inputs=[torchtrt.Input([4, 3, 16, 16])]).save(str(other))
    handler = ModelHandler(path)
    handler.update_model_path(str(other))
    (images,) = arrays(6, [3, 16, 16])
    results = list(handler.run_inference(list(images), handler.load_model()))
    torch.testing.assert_close(torch.from_numpy(numpy.stack([each.inference for each in results])), module(torch.from_numpy(images)))
    assert results[0].model_id == str(other)


def test_bytes_and_metrics_are_told(image):
    handler = ModelHandler(image[0])
    (images,) = arrays(3, [3, 16, 16])
    assert handler.get_num_bytes(list(images)) == images.nbytes
    assert handler.get_metrics_namespace() == "BeamML_torchtrt"


def test_what_does_not_fit_is_told(image, two):
    handler = ModelHandler(image[0])
    with pytest.raises(torchtrt.CompileError, match=r"\[C002\] 'image': expected \[rows, 3, 16, 16\], got \[1, 3, 8, 16\]"):
        handler.run_inference([numpy.zeros((3, 8, 16), numpy.float32)], handler.load_model())
    with pytest.raises(torchtrt.CompileError, match=r"\[C003\] a compiled module takes no inference_args \(top_k\)"):
        handler.run_inference([numpy.zeros((3, 16, 16), numpy.float32)], handler.load_model(), {"top_k": 1})
    handler = ModelHandler(two[0])
    with pytest.raises(torchtrt.CompileError, match=r"\[C002\] an example has no y\n  give a mapping with x, y"):
        handler.run_inference([{"x": numpy.zeros(4, numpy.float32)}], handler.load_model())
    with pytest.raises(torchtrt.EngineError, match=r"\[E009\] there is no file '/nowhere/compiled.ts' on this worker"):
        ModelHandler("/nowhere/compiled.ts").load_model()
