"""A Triton server for a model repository that torchtrtc wrote. The server is the one that pytriton brings, which has no PyTorch backend: its
Python backend stands in for it and runs the same model.pt, under the same config.pbtxt except for the line that names the backend."""

import concurrent.futures
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import threading
import time
from pathlib import Path

import pytriton
import tritonclient.http as http
from tritonclient.utils import np_to_triton_dtype

import torchtrt

SERVER = Path(pytriton.__file__).parent / "tritonserver"
LIBRARIES = Path(pytriton.__file__).parents[1] / "nvidia_pytriton.libs"
PLATFORM = 'platform: "pytorch_libtorch"'
SECONDS = 120

# Calls model.pt as the PyTorch backend does: a batch of all requests, arguments by name, results by number.
BACKEND = f"""
import json, os, sys
sys.path.insert(0, {str(Path(torchtrt.__file__).parents[1])!r})
import numpy, torch, torchtrt.runtime
import triton_python_backend_utils as backend

class TritonPythonModel:
    def initialize(self, args):
        config = json.loads(args["model_config"])
        self.module = torch.jit.load(os.path.join(args["model_repository"], args["model_version"], "model.pt"))
        self.names = [each["name"] for each in config["input"]]
        # This backend leaves it to the model to drop the dimension that the server adds.
        self.flat = [config["max_batch_size"] > 0 and "reshape" in each for each in config["input"]]
        self.is_batched = config["max_batch_size"] > 0

    def call(self, requests):
        arrays = [numpy.concatenate([backend.get_input_tensor_by_name(each, name).as_numpy() for each in requests]) for name in self.names]
        tensors = [torch.from_numpy(array).reshape(-1) if flat else torch.from_numpy(array) for array, flat in zip(arrays, self.flat)]
        with torch.inference_mode():
            result = self.module(*tensors)
        return [each.numpy() for each in (result if isinstance(result, tuple) else (result,))]

    def execute(self, requests):
        groups = [requests] if self.is_batched else [[each] for each in requests]
        responses = []
        for group in groups:
            results = self.call(group)
            sizes = [len(backend.get_input_tensor_by_name(each, self.names[0]).as_numpy()) for each in group]
            end = 0
            for size in sizes:
                begin, end = end, end + size
                parts = [each[begin:end] if self.is_batched else each for each in results]
                responses.append(backend.InferenceResponse([backend.Tensor(f"OUTPUT__{{i}}", part) for i, part in enumerate(parts)]))
        return responses
"""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def stand_in(repository: Path) -> None:
    """Gives every model of the repository the Python backend."""
    for config in repository.glob("*/config.pbtxt"):
        text = config.read_text()
        assert text.count(PLATFORM) == 1
        config.write_text(text.replace(PLATFORM, 'backend: "python"').replace("KIND_GPU", "KIND_CPU"))
        for model in config.parent.glob("*/model.pt"):
            (model.parent / "model.py").write_text(BACKEND)


def command(repository: Path, backends: Path, port: int) -> list:
    return [SERVER / "bin/tritonserver", f"--model-repository={repository}", f"--backend-directory={backends}", "--http-address=127.0.0.1",
            f"--http-port={port}", "--allow-grpc=false", "--allow-metrics=false", "--exit-timeout-secs=5"]


def environment() -> dict:
    folders = [sysconfig.get_config_var("LIBDIR"), str(LIBRARIES), os.environ.get("LD_LIBRARY_PATH", "")]
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(each for each in folders if each),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def backends(folder: Path) -> Path:
    """A folder of backends with Python's, complete."""
    shutil.copytree(SERVER / "backends", folder)
    stub = f"{sys.version_info[0]}.{sys.version_info[1]}/triton_python_backend_stub"
    shutil.copy(SERVER / "python_backend_stubs" / stub, folder / "python")
    return folder


@contextlib.contextmanager
def serving(repository: Path, folder: Path):
    """A client of a server that has all models of the repository."""
    stand_in(repository)
    port, log = free_port(), folder / "server.log"
    with open(log, "w", encoding="utf-8") as output:
        process = subprocess.Popen([str(part) for part in command(repository, backends(folder / "backends"), port)], env=environment(),
                                   stdout=output, stderr=subprocess.STDOUT)
    client = client_of(port)
    try:
        wait_until_ready(client, process, log)
        yield client
    finally:
        client.close()
        process.terminate()
        process.wait(SECONDS)


def client_of(port: int):
    client = http.InferenceServerClient(f"127.0.0.1:{port}", network_timeout=SECONDS)
    client.port = port
    return client


def is_ready(client, model: str = "") -> bool:
    try:
        return client.is_model_ready(model) if model else client.is_server_ready()
    except OSError:
        return False


def wait_until_ready(client, process: subprocess.Popen, log: Path, model: str = "") -> None:
    """Until the server is, with all models that it has at its start, or that one, which it gets later."""
    end = time.monotonic() + SECONDS
    while not is_ready(client, model):
        assert process.poll() is None and time.monotonic() < end, log.read_text()
        time.sleep(0.2)


def ask(client, model: str, arrays: dict) -> list:
    """The arrays that a request gets."""
    inputs = [http.InferInput(name, array.shape, np_to_triton_dtype(array.dtype)) for name, array in arrays.items()]
    for each, array in zip(inputs, arrays.values()):
        each.set_data_from_numpy(array)
    answer = client.infer(model, inputs)
    return [answer.as_numpy(output["name"]) for output in answer.get_response()["outputs"]]


def ask_together(port: int, model: str, requests: list, threads: int = 8) -> list:
    """The answers of all requests, from several threads. A client belongs to the thread that made it."""
    own = threading.local()

    def answer(arrays: dict) -> list:
        if not hasattr(own, "client"):
            own.client = client_of(port)
        return ask(own.client, model, arrays)

    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        return list(pool.map(answer, requests))
