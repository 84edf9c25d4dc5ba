"""The systems that `./dev bench --peers` measures beside: TorchInductor, ONNX Runtime and OpenVINO, on float32 and the same threads.

Each `make` takes a module in eval mode, its input and the number of threads, and returns a callable without arguments.
"""

import contextlib
import io
import pathlib
import tempfile
from collections.abc import Callable

import torch

NAMES = ["inductor", "onnxruntime", "openvino"]


def _onnx_file(module: torch.nn.Module, x: torch.Tensor, folder: str) -> str:
    file = str(pathlib.Path(folder) / "model.onnx")
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)  # its operator has no form in ONNX
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # on failure the exporter prints the whole graph
            torch.onnx.export(module, (x,), file, input_names=["x"], dynamo=False, opset_version=18)
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
    return file


def _inductor(module: torch.nn.Module, x: torch.Tensor, threads: int) -> Callable[[], object]:
    import torch._inductor.config

    del threads  # torch.set_num_threads has been called
    torch._inductor.config.freezing = True
    compiled = torch.compile(module, mode="max-autotune-no-cudagraphs")
    compiled(x)
    return lambda: compiled(x)


def _onnxruntime(module: torch.nn.Module, x: torch.Tensor, threads: int) -> Callable[[], object]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    with tempfile.TemporaryDirectory() as folder:
        session = onnxruntime.InferenceSession(_onnx_file(module, x, folder), options, providers=["CPUExecutionProvider"])
    feed = {"x": x.numpy()}
    return lambda: session.run(None, feed)


def _openvino(module: torch.nn.Module, x: torch.Tensor, threads: int) -> Callable[[], object]:
    import openvino

    with tempfile.TemporaryDirectory() as folder:
        compiled = openvino.compile_model(_onnx_file(module, x, folder), "CPU", {
            "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    array = x.numpy()
    return lambda: request.infer([array], share_inputs=True)


def make(name: str, module: torch.nn.Module, x: torch.Tensor, threads: int) -> Callable[[], object]:
    return {"inductor": _inductor, "onnxruntime": _onnxruntime, "openvino": _openvino}[name](module, x, threads)
