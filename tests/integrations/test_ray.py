"""Ray Data and Ray Serve on a real cluster of three nodes on this machine: equal results, threads, a killed actor, batches, and what does not fit."""

import asyncio
import json
import os
import pathlib
import pickle
import signal
import urllib.error
import urllib.request

import numpy
import pytest
import ray
import torch
import torchtrt
from nets import Image, compile_to
from ray import serve
from ray.cluster_utils import Cluster

from torchtrt.integrations.ray import Predictor, deployment

@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("ray") / "compiled.ts"
    compile_to(path, Image, [3, 16, 16])
    return path


@pytest.fixture(scope="module")
def cluster():
    """Three nodes with two CPUs each, as the tests see them."""
    os.environ["PYTHONPATH"] = f"{pathlib.Path(__file__).parent}:{os.environ.get('PYTHONPATH', '')}"  # the workers unpickle this file's classes
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False, "object_store_memory": 200_000_000})
    for _ in range(2):
        nodes.add_node(num_cpus=2, object_store_memory=200_000_000)
    ray.init(address=nodes.address, log_to_driver=False)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    yield nodes
    serve.shutdown()
    ray.shutdown()
    nodes.shutdown()


@pytest.fixture(scope="module")
def images():
    return numpy.random.default_rng(0).standard_normal((100, 3, 16, 16), dtype=numpy.float32)


@pytest.fixture(scope="module")
def expected(file, images):
    module = torch.jit.load(str(file))
    return numpy.concatenate([module(torch.from_numpy(images[i:i + 10])).numpy() for i in range(0, len(images), 10)])


def dataset(images):
    return ray.data.from_items([{"number": i, "image": image} for i, image in enumerate(images)], override_num_blocks=10)


def in_order(rows) -> numpy.ndarray:
    rows = sorted(rows, key=lambda row: row["number"])
    assert [row["number"] for row in rows] == list(range(len(rows)))
    return numpy.stack([row["output"] for row in rows])


@pytest.mark.parametrize("actors, batch_size", [(1, 16), (2, 8), (2, 40), (2, 1)])
def test_a_job_gives_what_the_module_gives(cluster, file, images, expected, actors, batch_size):
    result = dataset(images).map_batches(
        Predictor, fn_constructor_args=[str(file)], fn_constructor_kwargs={"keep": ["number"], "inputs": {"image": "image"}},
        compute=ray.data.ActorPoolStrategy(size=actors), batch_size=batch_size, num_cpus=1)
    numpy.testing.assert_allclose(in_order(result.take_all()), expected, rtol=1e-5, atol=1e-6)


class Watched(Predictor):
    """Tells the process, how often it loaded, its threads, and if it could write into its batch."""

    def __call__(self, batch):
        before = self._rows.model._module
        result = super().__call__(batch)
        count = len(batch["number"])
        loaded = before is None
        return {**result, "process": numpy.full(count, os.getpid()), "loaded": numpy.full(count, loaded), "threads": numpy.full(count, torch.get_num_threads()),
                "writeable": numpy.full(count, batch["image"].flags.writeable)}


@pytest.mark.parametrize("cpus", [1, 2])
def test_an_actor_loads_once_and_has_the_threads_that_it_was_granted(cluster, file, images, expected, cpus):
    rows = dataset(images).map_batches(
        Watched, fn_constructor_args=[str(file)], fn_constructor_kwargs={"keep": ["number"], "inputs": {"image": "image"}},
        compute=ray.data.ActorPoolStrategy(size=1), batch_size=10, num_cpus=cpus, zero_copy_batch=True).take_all()
    numpy.testing.assert_allclose(in_order(rows), expected, rtol=1e-5, atol=1e-6)
    assert len({row["process"] for row in rows}) == 1
    assert {row["threads"] for row in rows} == {cpus}
    assert sum(bool(row["loaded"]) for row in rows) == 10, "the first batch alone loads"
    assert not any(row["writeable"] for row in rows), "the batches were to be Ray's own memory"


class Fragile(Predictor):
    """Is killed by the system when it meets image 50 for the first time."""

    def __init__(self, path, mark, **options):
        super().__init__(path, **options)
        self._mark = mark

    def __call__(self, batch):
        if 50 in batch["number"] and not os.path.exists(self._mark):
            open(self._mark, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(batch)


def test_a_killed_actor_loses_nothing(cluster, file, images, expected, tmp_path):
    mark = str(tmp_path / "killed")
    rows = dataset(images).map_batches(
        Fragile, fn_constructor_args=[str(file), mark], fn_constructor_kwargs={"keep": ["number"], "inputs": {"image": "image"}},
        compute=ray.data.ActorPoolStrategy(size=2), batch_size=10, num_cpus=1, max_restarts=2, max_task_retries=2).take_all()
    assert os.path.exists(mark)
    numpy.testing.assert_allclose(in_order(rows), expected, rtol=1e-5, atol=1e-6)


def test_what_is_pickled_is_the_path(file, images):
    predictor = Predictor(str(file), inputs={"image": "image"})
    predictor({"image": images[:3]})
    state = pickle.dumps(predictor)
    assert len(state) < 1000 and str(file).encode() in state


def test_a_missing_column_and_other_sizes_are_told(file, images):
    with pytest.raises(torchtrt.CompileError, match=r"\[C002\] the batch has no column image; it has a, b"):
        Predictor(str(file))({"a": images, "b": images})
    with pytest.raises(torchtrt.CompileError, match=r"\[C002\] 'image': expected \[rows, 3, 16, 16\], got \[5, 3, 8, 16\]"):
        Predictor(str(file))({"image": images[:5, :, :8]})
    with pytest.raises(torchtrt.CompileError, match=r"\[C002\] outputs names 2 results, and forward has 1"):
        Predictor(str(file), outputs=["a", "b"])({"image": images[:5]})


def test_names_of_columns_are_the_callers(file, images, expected):
    result = Predictor(str(file), outputs=["scores"])({"picture": images})
    assert list(result) == ["scores"]
    numpy.testing.assert_allclose(result["scores"], expected, rtol=1e-5, atol=1e-6)


@pytest.fixture(scope="module")
def served(cluster, file):
    application = deployment(str(file), batch_wait_timeout_s=0.05, ray_actor_options={"num_cpus": 1})
    return serve.run(application, name="torchtrt", route_prefix="/")


def test_requests_run_together_and_give_their_own_results(served, images, expected):
    responses = [served.remote({"image": image}) for image in images]
    for response, wanted in zip(responses, expected):
        numpy.testing.assert_allclose(response.result()["output"], wanted, rtol=1e-5, atol=1e-6)


def test_a_replica_takes_as_many_requests_as_a_batch_has(file):
    options = deployment(str(file), max_batch_size=16)._bound_deployment
    assert options.max_ongoing_requests == 32


def test_a_request_that_does_not_fit_fails_alone(served, images, expected):
    responses = [served.remote({"image": image}) for image in (images[0], images[1][:, :8], images[2])]
    numpy.testing.assert_allclose(responses[0].result()["output"], expected[0], rtol=1e-5, atol=1e-6)
    with pytest.raises(Exception, match=r"expected \[rows, 3, 16, 16\], got \[1, 3, 8, 16\]"):
        responses[1].result()
    numpy.testing.assert_allclose(responses[2].result()["output"], expected[2], rtol=1e-5, atol=1e-6)


def post(values) -> tuple[int, dict]:
    request = urllib.request.Request("http://127.0.0.1:8000/", json.dumps(values).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_http_takes_and_gives_json(served, images, expected):
    status, answer = post({"image": images[0].tolist()})
    assert status == 200
    numpy.testing.assert_allclose(answer["output"], expected[0], rtol=1e-5, atol=1e-6)
    status, answer = post({"image": [1, 2]})
    assert status == 400 and "'image': expected [rows, 3, 16, 16], got [1, 2]" in answer["error"]
    status, answer = post({"picture": images[0].tolist(), "other": 1})
    assert status == 400 and "the batch has no column image" in answer["error"]


def test_many_clients_at_once(served, images, expected):
    async def ask():
        return await asyncio.gather(*(served.remote({"image": image}) for image in images[:40]))

    for answer, wanted in zip(asyncio.run(ask()), expected):
        numpy.testing.assert_allclose(answer["output"], wanted, rtol=1e-5, atol=1e-6)
