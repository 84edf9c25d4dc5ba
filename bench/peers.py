"""The systems that `./dev bench --peers` measures beside: TorchInductor, ONNX Runtime and OpenVINO, on the same threads and, if they have it, in the
same dtype. gpu_ways.py has what differs on a GPU."""

import contextlib
import io
import os
from typing import Any

import integers
import models
import ways
from job import Job

NAMES = ["inductor", "onnxruntime", "openvino"]
ONNX_OPSET = 18
# Below float32 these run no model on a CPU, or compute in another dtype than they are asked for.
LACKING = {"bfloat16": ["onnxruntime"], "int8": ["inductor"], "int4": ["inductor"]}
OPENVINO_HINTS = {"float16": "f16", "bfloat16": "bf16"}  # of other dtypes f32: beside integers it would else compute in 16 bits
# silero-vad comes in ONNX beside TorchScript, which the exporter does not take; its makers have a file for OpenVINO.
SILERO_FILES = {"onnxruntime": "silero_vad.onnx", "openvino": "silero_vad_openvino_16k.onnx"}
SILERO_CONTEXT, SILERO_STATE = 64, 128  # samples before the input's, and values of each of two states, that its caller keeps


def _inductor(job: Job, module) -> ways.Call:
    import torch._inductor.config

    torch._inductor.config.freezing = True
    mode = "max-autotune" if job.is_on_gpu else "max-autotune-no-cudagraphs"
    call = ways.calling(torch.compile(module, mode=mode), job)
    call()
    return call


def _inductor_libraries(job: Job) -> contextlib.AbstractContextManager:
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = job.file("inductor")  # what making leaves for loading
    return ways.torch_libraries(job)


def _size_of_cache(job: Job, made) -> dict:
    files = [os.path.join(folder, name) for folder, _, names in os.walk(job.file("inductor")) for name in names]
    return {"file_bytes": sum(map(os.path.getsize, files))}


def onnx_file(job: Job) -> str:
    if job.model == "silero_vad":
        return models.package_file("silero_vad", f"data/{SILERO_FILES[job.way]}")
    return job.file(f"{job.dtype if job.dtype in integers.DTYPES else job.way}.onnx")  # one file of integers for all


def _diff(graph, x, n, dim, prepend, append):
    """torch.diff of first order, which the exporter does not know and transformers' causal masks call."""
    from torch.onnx import symbolic_helper as helper

    axis = helper._get_const(dim, "i", "dim")
    parts = [each for each in (prepend, x, append) if not helper._is_none(each)]
    joined = graph.op("Concat", *parts, axis_i=axis) if len(parts) > 1 else x
    later = helper._slice_helper(graph, joined, axes=[axis], starts=[1], ends=[2**63 - 1])
    return graph.op("Sub", later, helper._slice_helper(graph, joined, axes=[axis], starts=[0], ends=[-1]))


def _cumsum(graph, x, dim, dtype):
    """torch.cumsum, whose sums of truths and of short integers are int64: the exporter leaves their type, which ONNX does not add up."""
    from torch.onnx import TensorProtoDataType, symbolic_opset11
    from torch.onnx import symbolic_helper as helper

    if helper._is_none(dtype) and not helper._is_fp(x):
        x = graph.op("Cast", x, to_i=TensorProtoDataType.INT64)
    return symbolic_opset11.cumsum(graph, x, dim, dtype)


def _exported_as(job: Job) -> Job:
    """The job whose module and arguments are exported. OpenVINO rounds them to 16 bits itself, integers come later."""
    return job if job.is_on_gpu or (job.way, job.dtype) == ("onnxruntime", "float16") else job.in_float32


def _export(job: Job, module, file: str) -> None:
    import torch

    for name, symbolic in [("diff", _diff), ("cumsum", _cumsum)]:
        torch.onnx.register_custom_op_symbolic(f"aten::{name}", symbolic, ONNX_OPSET)
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)  # its operator has no form in ONNX
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # on failure the exporter prints the whole graph
            torch.onnx.export(module, ways.arguments(_exported_as(job)), file, dynamo=False, opset_version=ONNX_OPSET)
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


def _module(job: Job) -> Any:
    return None if job.model == "silero_vad" else ways.module(_exported_as(job))


def write_onnx(job: Job, module) -> None:
    """Exports the module; integers, which all systems read from one file, by the first of them."""
    file = onnx_file(job)
    if job.dtype not in integers.DTYPES:
        _export(job, module, file)
    elif not os.path.exists(file):
        plain = file + ".plain"
        _export(job, module, plain)
        integers.rewrite(job, plain, file)


def make_from_onnx(session):
    def make(job: Job, module) -> object:
        if module is not None:
            write_onnx(job, module)
        return session(job)

    return make


def size_of_onnx(job: Job, made) -> dict:
    return {"file_bytes": os.path.getsize(onnx_file(job))}


def _session(job: Job):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = job.threads
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(onnx_file(job), options, providers=["CPUExecutionProvider"])


def _request(job: Job):
    import openvino

    compiled = openvino.compile_model(onnx_file(job), "CPU", {
        "INFERENCE_NUM_THREADS": job.threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": OPENVINO_HINTS.get(job.dtype, "f32")})
    return compiled.create_infer_request()


def _silero_caller(job: Job, names: list[str], run) -> ways.Call:
    """`run` takes the file's inputs and gives probability and state. This keeps the state that the TorchScript form keeps itself."""
    import numpy

    samples, rate = job.arrays()
    kept = {"context": numpy.zeros((job.batch, SILERO_CONTEXT), numpy.float32),
            "state": numpy.zeros((2, job.batch, SILERO_STATE), numpy.float32)}

    def call():
        given = {"input": numpy.concatenate([kept["context"], samples], axis=1), "state": kept["state"], "sr": rate}
        probability, kept["state"] = run([given[name] for name in names])
        kept["context"] = samples[:, -SILERO_CONTEXT:]
        return probability

    return call


def _in_16_bits(arrays: list) -> list:
    return [each.astype("float16") if each.dtype == "float32" else each for each in arrays]


def _onnxruntime_load(job: Job) -> ways.Call:
    session = _session(job)
    names = [each.name for each in session.get_inputs()]
    if job.model == "silero_vad":
        return _silero_caller(job, names, lambda values: session.run(None, dict(zip(names, values))))
    feed = dict(zip(names, _in_16_bits(job.arrays()) if job.dtype == "float16" else job.arrays(), strict=True))
    return lambda: session.run(None, feed)


def _openvino_load(job: Job) -> ways.Call:
    request = _request(job)
    if job.model == "silero_vad":
        names = [each.get_any_name() for each in request.model_inputs]
        return _silero_caller(job, names, lambda values: [value.copy() for value in request.infer(values).values()])
    arrays = job.arrays()
    return lambda: request.infer(arrays, share_inputs=True)


def _onnxruntime_libraries(job: Job) -> contextlib.AbstractContextManager:
    import onnxruntime  # noqa: F401

    return contextlib.nullcontext()


def _openvino_libraries(job: Job) -> contextlib.AbstractContextManager:
    import openvino  # noqa: F401

    return contextlib.nullcontext()


PEERS: dict[str, ways.Way] = {
    "inductor": ways.Way(lambda job: _inductor(job, ways.module(job)), _inductor_libraries, ways.module, _inductor, _size_of_cache),
    "onnxruntime": ways.Way(_onnxruntime_load, _onnxruntime_libraries, _module, make_from_onnx(_session), size_of_onnx),
    "openvino": ways.Way(_openvino_load, _openvino_libraries, _module, make_from_onnx(_request), size_of_onnx),
}
