"""Triton: configurations of torchtrtc triton as Triton's own parser and server read them, and compiled files that pytriton serves. Every
server here is a real one, on 127.0.0.1; results are those of calling the module."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy
import pytest
import torch
from google.protobuf import text_format
from torch import nn
from tritonclient.grpc import model_config_pb2
from tritonclient.utils import InferenceServerException

import torchtrt
from torchtrt.integrations import triton

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
import triton_cases  # noqa: E402
import triton_server  # noqa: E402

BUILD = Path(os.environ["TORCHTRT_BUILD"])
GOLDEN = sorted((Path(__file__).parents[1] / "python/triton_configs").glob("*.pbtxt"))
SERVED = [name for name in triton_cases.CASES if name != "gpu"]
# Sizes of requests within the ranges of each case.
SIZES = {"fixed_batch": [(2, 4)], "image": [(1, 3, 16, 20), (3, 3, 32, 32)], "tokens": [(1, 2), (5, 9)], "per_request": [(1,), (7,)],
         "partly": [(1, 4, 4), (3, 4, 4)], "starts_at_two": [(2, 4), (8, 4)], "pairs": [(1, 4), (5, 4)]}
MODEL = "dynamic_batch"


def torchtrtc(*arguments) -> None:
    subprocess.run([str(part) for part in (BUILD / "bin/torchtrtc", *arguments)], check=True, capture_output=True)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The folder of all compiled cases."""
    folder = tmp_path_factory.mktemp("compiled")
    for name in SERVED:
        make, specifications, options, _ = triton_cases.CASES[name]
        torch.manual_seed(0)
        torch.jit.script(make().eval()).save(str(folder / "plain.pt"))
        torchtrtc(folder / "plain.pt", folder / f"{name}.ts", *specifications, *options, "--no-threshold-check")
    return folder


def arguments(name: str, sizes, seed: int = 0) -> dict:
    generator = numpy.random.default_rng(seed)
    if name == "tokens":
        return {"ids": generator.integers(0, 16, sizes), "mask": generator.random(sizes) < 0.5}
    (argument,) = torch.jit.script(triton_cases.CASES[name][0]()).forward.schema.arguments[1:]
    return {argument.name: generator.standard_normal(sizes).astype(numpy.float16 if name == "half" else numpy.float32)}


def expected(folder: Path, name: str, arrays: dict) -> list:
    with torch.inference_mode():
        result = torch.jit.load(str(folder / f"{name}.ts"))(*map(torch.from_numpy, arrays.values()))
    return [each.numpy() for each in (result if isinstance(result, tuple) else (result,))]


def assert_equal(answers: list, results: list) -> None:
    """A batch with others may be computed in another order than a call alone."""
    assert len(answers) == len(results)
    for answer, result in zip(answers, results):
        assert answer.dtype == result.dtype
        allowed = 10 * numpy.finfo(result.dtype).eps * max(1, numpy.abs(result).max()) if result.dtype.kind == "f" else 0
        assert numpy.abs(answer.reshape(result.shape).astype(float) - result.astype(float)).max() <= allowed


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_tritons_parser_reads_what_was_written(path):
    config = text_format.Parse(path.read_text(), model_config_pb2.ModelConfig())
    assert config.name == path.stem and config.platform == "pytorch_libtorch"
    assert [output.name for output in config.output] == [f"OUTPUT__{number}" for number in range(len(config.output))]
    assert (config.max_batch_size > 0) == config.HasField("dynamic_batching")
    assert config.parameters["INFERENCE_MODE"].string_value == "true"
    kind = model_config_pb2.ModelInstanceGroup.KIND_GPU if path.stem == "gpu" else model_config_pb2.ModelInstanceGroup.KIND_CPU
    assert [group.kind for group in config.instance_group] == [kind]
    for warmup in config.model_warmup:
        assert sorted(warmup.inputs) == sorted(each.name for each in config.input)
        assert warmup.batch_size <= config.max_batch_size


def test_the_server_takes_the_configuration_and_lacks_only_the_backend(compiled, tmp_path):
    torchtrtc("triton", compiled / f"{MODEL}.ts", tmp_path / "models")
    line = triton_server.command(tmp_path / "models", triton_server.SERVER / "backends", triton_server.free_port())
    process = subprocess.run([str(part) for part in line], env=triton_server.environment(), capture_output=True, text=True, check=False,
                             timeout=triton_server.SECONDS)
    assert "unable to find backend library for backend 'pytorch'" in process.stdout + process.stderr


@pytest.fixture(scope="module")
def repository(compiled, tmp_path_factory):
    """A client of a server that has every case from a repository of torchtrtc's."""
    folder = tmp_path_factory.mktemp("served")
    for name in SERVED:
        torchtrtc("triton", compiled / f"{name}.ts", folder / "models", *triton_cases.CASES[name][3])
    with triton_server.serving(folder / "models", folder) as client:
        yield client


@pytest.mark.parametrize("name", SERVED)
def test_a_written_repository_gives_the_modules_results(name, repository, compiled):
    for sizes in SIZES.get(name, [(1, 4), (4, 4)]):
        arrays = arguments(name, sizes)
        sent = {key: array.reshape(-1, 1) if name == "per_request" else array for key, array in arrays.items()}
        assert_equal(triton_server.ask(repository, name, sent), expected(compiled, name, arrays))


def test_a_written_repository_was_warmed_up_and_joins_requests(repository, compiled):
    before = repository.get_inference_statistics(MODEL)["model_stats"][0]
    arrays = [arguments(MODEL, (1, 4), seed) for seed in range(64)]
    answers = triton_server.ask_together(repository.port, MODEL, arrays)
    for answer, each in zip(answers, arrays):
        assert_equal(answer, expected(compiled, MODEL, each))
    after = repository.get_inference_statistics(MODEL)["model_stats"][0]
    assert after["inference_count"] - before["inference_count"] == 64
    assert after["execution_count"] - before["execution_count"] < 64


def test_a_batch_outside_the_range_is_refused_by_the_server(repository):
    with pytest.raises(InferenceServerException, match="batch-size must be <= 8"):
        triton_server.ask(repository, MODEL, arguments(MODEL, (9, 4)))


def start_with_every_case(compiled, port):
    server = triton.server(http_port=port, allow_grpc=False, allow_metrics=False, exit_timeout_secs=5)
    try:
        for name in SERVED:
            largest = {"no_batches": 0, "without_end": 32}.get(name)
            triton.bind(server, compiled / f"{name}.ts", instances=2, max_batch_size=largest, max_queue_delay_us=2000)
    except BaseException:
        server.stop()
        raise
    return server


@pytest.fixture(scope="module")
def served(compiled):
    """pytriton's server with every case, and its address. In pytriton 0.7 a model's second instance may ask the first one for its
    settings in the moment between the making of its socket and listening on it: then all is started again."""
    port = triton_server.free_port()
    for tries_left in (2, 1, 0):
        try:
            server = start_with_every_case(compiled, port)
            break
        except InferenceServerException as error:
            if "ConnectionRefusedError" not in str(error) or not tries_left:
                raise
    with server:
        client = triton_server.client_of(port)
        yield server, client
        client.close()


@pytest.mark.parametrize("name", SERVED)
def test_pytriton_gives_the_modules_results(name, served, compiled):
    for sizes in SIZES.get(name, [(1, 4), (4, 4)]):
        arrays = arguments(name, sizes)
        sent = {key: array.reshape(-1, 1) if name == "per_request" else array for key, array in arrays.items()}
        assert_equal(triton_server.ask(served[1], name, sent), expected(compiled, name, arrays))


@pytest.mark.parametrize("name", SERVED)
def test_pytriton_has_the_configuration_that_torchtrtc_writes(name, served):
    """Except for what the two backends do differently: the extra dimension of numbers, parameters, warm-up, instances."""
    written = text_format.Parse((GOLDEN[0].parent / f"{name}.pbtxt").read_text(), model_config_pb2.ModelConfig())
    config = served[1].get_model_config(name)
    assert config["max_batch_size"] == written.max_batch_size
    for kind, tensors in (("input", written.input), ("output", written.output)):
        names = [(each["name"], each["data_type"], each["dims"]) for each in config[kind]]
        types = model_config_pb2.DataType
        assert names == [(each.name, types.Name(each.data_type), list(each.dims)) for each in tensors]
    if written.max_batch_size:
        assert config["dynamic_batching"]["preferred_batch_size"] == list(written.dynamic_batching.preferred_batch_size)


def test_pytriton_joins_requests_of_many_clients(served, compiled):
    server, client = served
    headers = {"triton-access-token": server.get_access_token()}
    before = client.get_inference_statistics(MODEL, headers=headers)["model_stats"][0]
    arrays = [arguments(MODEL, (1 + seed % 3, 4), seed) for seed in range(60)]
    answers = triton_server.ask_together(client.port, MODEL, arrays)
    for answer, each in zip(answers, arrays):
        assert_equal(answer, expected(compiled, MODEL, each))
    after = client.get_inference_statistics(MODEL, headers=headers)["model_stats"][0]
    assert after["inference_count"] - before["inference_count"] == 120
    assert after["execution_count"] - before["execution_count"] < 60


def test_the_servers_library_path_is_not_left_behind(served):
    assert sysconfig.get_config_var("LIBDIR") not in os.environ.get("LD_LIBRARY_PATH", "").split(":")
    assert served[1].is_server_live()


class Optional(nn.Module):
    def forward(self, x, mask: torch.Tensor | None = None):
        return x if mask is None else x * mask


@pytest.mark.parametrize("module, parts", [
    (nn.ReLU(), ["[C002]", 'no engine takes "input" as it comes', "engines read every argument"]),
    (Optional(), ["[C004]", '"mask" of forward is Optional[Tensor]', "tensors alone"]),
])
def test_what_has_no_ranges_or_other_arguments_is_refused(module, parts, served, tmp_path):
    torch.jit.script(module.eval()).save(str(tmp_path / "module.ts"))
    with pytest.raises(torchtrt.CompileError) as caught:
        triton.bind(served[0], tmp_path / "module.ts")
    assert all(part in str(caught.value) for part in parts), str(caught.value)


def test_a_missing_file_is_named(served, tmp_path):
    with pytest.raises(torchtrt.CompileError, match=r"\[C004\] there is no file"):
        triton.bind(served[0], tmp_path / "missing.ts")


def test_a_batch_without_an_end_needs_one(served, compiled):
    with pytest.raises(torchtrt.CompileError, match=r"\[C003\].*has no largest size"):
        triton.bind(served[0], compiled / "without_end.ts", "other")
