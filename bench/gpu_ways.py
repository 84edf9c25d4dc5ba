"""The ways of running a model on a GPU that differ from those of ways.py and peers.py, and what all of them begin with.

A way whose name ends in "+graph" is captured once into a CUDA graph, and a call starts that graph on inputs that stay where they are. Engines and
TorchInductor have graphs of their own.
"""

import contextlib
import copy
import dataclasses
from collections.abc import Callable, Iterable

import gpu
import models
import peers
import ways
from job import Job

TORCHSCRIPT = ["freeze", "freeze+graph"]
NAMES = ["eager", "eager+graph", *TORCHSCRIPT, ways.ENGINE]
PEERS = ["inductor", "onnxruntime"]
CALLS_BEFORE_CAPTURE = 4  # TorchScript compiles in the first ones, and libraries choose and load kernels
PROVIDER = "CUDAExecutionProvider"


def captured(load: Callable[[Job], ways.Call]) -> Callable[[Job], ways.Call]:
    """Returns a function that loads the way and captures a call. It raises PyTorch's error if the call cannot be captured."""
    def load_captured(job: Job) -> ways.Call:
        import torch

        if models.ALL[job.model].keeps_state:
            raise RuntimeError("the model keeps state from one call to the next, which a captured graph would not carry on")
        call, beside = load(job), torch.cuda.Stream()
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(CALLS_BEFORE_CAPTURE):
                call()
        torch.cuda.current_stream().wait_stream(beside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            answer = call()

        def replay(call=call):  # the graph has only the addresses of what the call holds
            graph.replay()
            return answer

        return replay

    return load_captured


def _in_graph(way: ways.Way) -> ways.Way:
    return ways.Way(captured(way.load), way.libraries)


def make_model(job: Job) -> dict:
    """Leaves what all ways on a GPU begin with: module.pt and script.ts there in the job's dtype, and reference.npz, the answer in float64.
    Scripted models have constants of one dtype, so that their reference is eager PyTorch's answer."""
    import numpy
    import torch

    import answers

    described = models.ALL[job.model]
    with ways.torch_libraries(job):
        built, reference = models.build(job.model), None
        if not described.is_scripted:
            exact = copy.deepcopy(built).to(job.device, torch.float64)
            reference = answers.flat(exact(*gpu.moved(models.arguments(job.model, job.batch), job.device, torch.float64)))
            del exact
        built, given = built.to(job.device, gpu.dtype_of(job.dtype)), ways.arguments(job)
        models.script(job.model, built, job.batch, given).save(job.file("script.ts"))
        if not isinstance(built, torch.jit.ScriptModule):
            torch.save(built, job.file("module.pt"))
        eager = answers.flat(built(*given))
        reference = eager if reference is None else reference
        numpy.savez(job.file("reference.npz"), *reference)
    return {"weight_bytes": ways.weight_bytes(built), "eager_difference": answers.difference(eager, reference, ordered=not described.detects)}


def peak_flops(profile, dtype: str) -> float:
    """Multiply-adds a second that the card reaches in this dtype of job.DTYPES, as the profile measured them. TF32 has half of the speed that 16
    bits have on tensor cores."""
    tensor = profile.tensor_flops_per_second
    if dtype == "float32" or not tensor:
        return profile.flops_per_second
    return tensor / 2 if dtype == "tf32" else tensor


def bound_seconds(steps: Iterable[tuple[float, float, float]], bytes_per_second: float) -> float:
    """The shortest time of steps one after the other, each given as its multiply-adds, how many a second its dtype allows, and its bytes: the
    slower of the two limits each time."""
    return sum(max(flops / peak, moved / bytes_per_second) for flops, peak, moved in steps)


def limits(profile, dtype: str) -> dict:
    """What the engines of a call compute and move, and the bound of their time by the card's measured limits. Operators that PyTorch runs beside
    them are left out."""
    steps = [(step.flops, profile.peak_of(step), step.bytes) for engine in profile.engines for _ in range(engine.calls) for step in engine.steps]
    return {
        "flops": sum(flops for flops, _, _ in steps), "bytes": sum(moved for _, _, moved in steps),
        "peak_flops_per_second": peak_flops(profile, dtype), "peak_bytes_per_second": profile.bytes_per_second,
        "bound_ms": bound_seconds(steps, profile.bytes_per_second) * 1e3}


def _finish_engine(job: Job, compiled) -> dict:
    facts = ways.saved_engine(job, compiled)
    try:
        return facts | limits(ways.profile(job, compiled), job.dtype)
    except Exception as error:  # noqa: BLE001 - told, and the engine is measured
        return facts | {"profile_error": f"{type(error).__name__}: {error}".splitlines()[0]}


def _onnxruntime_libraries(job: Job) -> contextlib.AbstractContextManager:
    """Raises ImportError if the package is missing or is that for CPUs."""
    libraries = ways.torch_libraries(job)  # first: ONNX Runtime finds the CUDA libraries that PyTorch brings
    import onnxruntime

    if PROVIDER not in (there := onnxruntime.get_available_providers()):
        raise ImportError(f"onnxruntime {onnxruntime.__version__} runs on no GPU: expected {PROVIDER}, got {', '.join(there)}")
    return libraries


def _session(job: Job):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = job.threads
    index = job.device.partition(":")[2]
    session = onnxruntime.InferenceSession(peers.onnx_file(job), options, providers=[
        (PROVIDER, {"device_id": index, "use_tf32": str(int(job.dtype == "tf32"))})])
    if PROVIDER not in session.get_providers():
        raise RuntimeError(f"the session runs on {', '.join(session.get_providers())}, expected {PROVIDER}")
    return session


class _Bound:
    """Holds an ONNX Runtime session's outputs on the GPU, until answers.flat asks for the values."""

    def __init__(self, binding):
        self._binding = binding

    def values(self) -> list:
        return self._binding.copy_outputs_to_cpu()


def _onnxruntime_load(job: Job) -> ways.Call:
    """Inputs and outputs stay on the GPU. A call returns when it is done, as the interface has it."""
    import numpy
    import torch

    session, given = _session(job), _tensors(ways.arguments(job))
    binding, index = session.io_binding(), int(job.device.partition(":")[2])
    kinds = {torch.float32: numpy.float32, torch.float16: numpy.float16, torch.int64: numpy.int64}
    for each, x in zip(session.get_inputs(), given, strict=True):
        binding.bind_input(each.name, "cuda", index, kinds[x.dtype], list(x.shape), x.data_ptr())
    for each in session.get_outputs():
        binding.bind_output(each.name, "cuda", index)
    answer = _Bound(binding)

    def call(given=given):  # the binding has only the addresses of the inputs
        session.run_with_iobinding(binding)
        return answer

    return call


def _tensors(values) -> list:
    """The tensors in a nest of lists and tuples, in their order."""
    if isinstance(values, (list, tuple)):
        return [x for value in values for x in _tensors(value)]
    return [values] if hasattr(values, "data_ptr") else []


def _onnxruntime_module(job: Job):
    if job.dtype == "bfloat16":
        raise ValueError("ONNX Runtime's CUDA provider is measured in float32, tf32 and float16, got bfloat16")
    return ways.module(job)


WAYS: dict[str, ways.Way] = {
    "eager": ways.WAYS["eager"],
    "eager+graph": _in_graph(ways.WAYS["eager"]),
    "freeze": ways.WAYS["freeze"],
    "freeze+graph": _in_graph(ways.WAYS["freeze"]),
    "inductor": peers.PEERS["inductor"],
    "onnxruntime": ways.Way(_onnxruntime_load, _onnxruntime_libraries, _onnxruntime_module, peers.make_from_onnx(_session), peers.size_of_onnx),
    ways.ENGINE: dataclasses.replace(ways.WAYS[ways.ENGINE], finish=_finish_engine),
}
