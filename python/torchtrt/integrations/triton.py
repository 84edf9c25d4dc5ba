"""Serves compiled modules with a Triton server that pytriton starts (`pip install torchtrt[triton]`):

    from torchtrt.integrations import triton

    with triton.server(http_port=8000) as server:
        triton.bind(server, "compiled.ts")
        server.serve()

The server calls back into this process, where the module runs. For Triton's own PyTorch backend, without Python, `torchtrtc triton` writes
a model repository."""

from __future__ import annotations

import contextlib
import os
import pathlib
import sysconfig

import numpy
import torch

from torchtrt import _files, runtime
from torchtrt.integrations import _loading, _signature

try:
    from pytriton.model_config import DynamicBatcher, ModelConfig, Tensor
    from pytriton.triton import Triton, TritonConfig
except ImportError as error:
    raise _loading.needed("pytriton", "triton") from error

__all__ = ["bind", "server"]


def server(**options) -> Triton:
    """A Triton server that runs until the `with` block ends, with options of pytriton.triton.TritonConfig. Clients of this machine alone reach
    it, unless http_address and its relatives are given."""
    local = dict.fromkeys(["http_address", "grpc_address", "metrics_address"], "127.0.0.1")
    with _library_of_this_python():
        triton = Triton(config=TritonConfig(**{**local, **options}))
        triton.run()
    return triton


@contextlib.contextmanager
def _library_of_this_python():
    """The server's Python processes ask the system's loader for libpython by its name, and read this Python's modules. Where this Python has
    its library in a folder of its own, the loader would take the system's, which may not fit the modules."""
    folder = sysconfig.get_config_var("LIBDIR") if sysconfig.get_config_var("Py_ENABLE_SHARED") else None
    before = os.environ.get("LD_LIBRARY_PATH")
    if folder:
        os.environ["LD_LIBRARY_PATH"] = folder + (f":{before}" if before else "")
    try:
        yield
    finally:
        if before is not None:
            os.environ["LD_LIBRARY_PATH"] = before
        elif folder:
            del os.environ["LD_LIBRARY_PATH"]


def bind(triton, path, name: str | None = None, *, version: int = 1, instances: int = 1, max_batch_size: int | None = None,
         max_queue_delay_us: int = 100, device="cpu", threads: int | None = None) -> _signature.Signature:
    """Makes a compiled file a model of a pytriton.triton.Triton, under the file's name or another. Inputs are named as the arguments of
    forward, outputs OUTPUT__0, OUTPUT__1 and so on, as `torchtrtc triton` names them. Dtypes, dims and the largest batch are those that the
    engines take. Requests that wait together run as one batch, if dim 0 is the batch of every tensor.

    instances: batches that run at the same time; they share the module. max_batch_size: fewer than the engines take; 0: requests run alone.
    max_queue_delay_us: microseconds that a request waits for others. threads: of a call; without it, as PyTorch has them.
    Returns what the module takes and gives. CompileError for a module whose arguments or results are not tensors."""
    device = torch.device(device)
    module = _files.load(path, map_location=device)
    module.eval()
    runtime.prepare(module)
    found = _signature.signature(module, max_batch_size, device)
    _bind(triton, name or pathlib.Path(path).stem, [_instance(module, found, device, threads) for _ in range(instances)], found,
          max_queue_delay_us, version)
    return found


def _bind(triton, name: str, functions, found: _signature.Signature, max_queue_delay_us: int, version: int = 1) -> None:
    is_batched = found.batch is not None
    config = ModelConfig(batching=is_batched)
    if found.batch is not None:
        opt, largest = found.batch
        config.max_batch_size = largest
        config.batcher = DynamicBatcher(max_queue_delay_microseconds=max_queue_delay_us,
                                        preferred_batch_size=sorted({size for size in (opt, largest) if size > 1}) or None)
    triton.bind(model_name=name, model_version=version, infer_func=functions, config=config,
                inputs=[_tensor(each, is_batched) for each in found.inputs], outputs=[_tensor(each, is_batched) for each in found.outputs])


def _tensor(each, is_batched: bool) -> Tensor:
    dims = each.dims[1:] if is_batched else each.dims
    if each.dtype == torch.bfloat16:
        _loading.reject(f'"{each.name}" is bfloat16, which numpy does not have', "compile a module that casts it, from or to float32 say", "C004")
    # Triton wants a dimension: a batch of numbers is one of rows with one element.
    return Tensor(name=each.name, dtype=torch.empty(0, dtype=each.dtype).numpy().dtype.type, shape=tuple(dims or [1]))


def _instance(module, found: _signature.Signature, device, threads: int | None):
    """The function that pytriton calls, in a thread of its own, with the requests of one batch."""
    is_ready = False

    def compute(arrays):
        """Computes numpy arrays of the results from the arguments' arrays."""
        tensors = []
        for each, array in zip(found.inputs, arrays):
            array = array if array.flags.writeable else array.copy()  # PyTorch warns of memory that it may not write to
            tensor = torch.from_numpy(array).to(device)
            tensors.append(tensor.reshape(tensor.shape[: len(each.opt)]))
        with torch.inference_mode():
            result = module(*tensors)
        results = result if isinstance(result, tuple) else (result,)
        rank = 2 if found.batch else 1
        return [each.reshape(*each.shape, *[1] * (rank - each.dim())).cpu().contiguous().numpy() for each in results]

    def infer(requests):
        nonlocal is_ready
        if threads is not None and not is_ready:
            torch.set_num_threads(threads)
            is_ready = True
        names = [each.name for each in found.outputs]
        if found.batch is None:
            return [dict(zip(names, compute([request[each.name] for each in found.inputs]))) for request in requests]
        first = found.inputs[0].name
        ends = numpy.cumsum([len(request[first]) for request in requests])[:-1]
        results = compute([numpy.concatenate([request[each.name] for request in requests]) for each in found.inputs])
        pieces = [numpy.split(result, ends) for result in results]
        return [dict(zip(names, (piece[number] for piece in pieces))) for number in range(len(requests))]

    return infer
