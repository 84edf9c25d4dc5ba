"""The ways of running a model that `./dev bench` measures: PyTorch's own and the engine here, other systems in peers.py.

Each is made in one process, which leaves files, and loaded and called in another one that has only these, as a deployment has.
"""

import contextlib
import dataclasses
import os
import time
from collections.abc import Callable
from typing import Any

import gpu
import integers
import models
from job import Job

Call = Callable[[], object]
TORCHSCRIPT = ["script", "freeze", "optimize_for_inference"]
ENGINE = "engine"
FLOAT32 = "engine in float32"  # beside an engine below float32
QUANTIZED = "quantized"  # PyTorch's own int8
NAMES = ["eager", *TORCHSCRIPT, ENGINE]
PROFILED_CALLS = 5


@dataclasses.dataclass(frozen=True)
class Way:
    """A way of running a model. The first process runs `given`, then `make`, whose time and memory count, then `finish`, which leaves files
    and gives further figures. The second process runs `load` within the context of `libraries`; its time and memory count."""

    load: Callable[[Job], Call]
    libraries: Callable[[Job], contextlib.AbstractContextManager]
    given: Callable[[Job], Any] | None = None  # none of these three: the model's own file is loaded
    make: Callable[[Job, Any], Any] | None = None
    finish: Callable[[Job, Any], dict] = lambda job, made: {}


def torch_libraries(job: Job) -> contextlib.AbstractContextManager:
    import torch

    torch.set_num_threads(job.threads)
    if job.is_on_gpu:
        gpu.set_up(job)
    if models.ALL[job.model].detects:
        import torchvision  # noqa: F401 - its operators
    return torch.inference_mode()


def _runtime_libraries(job: Job) -> contextlib.AbstractContextManager:
    import torchtrt.runtime  # noqa: F401 - the engine's operator

    return torch_libraries(job)


def module(job: Job):
    """The Python module that make_model left."""
    import torch

    if not os.path.exists(job.file("module.pt")):
        raise FileNotFoundError("there is no Python module: the model comes as TorchScript")
    return torch.load(job.file("module.pt"), weights_only=False)


def _script(job: Job):
    import torch

    return torch.jit.load(job.file("script.ts"))


def arguments(job: Job) -> tuple:
    """The arguments of a call, on the job's device and in its dtype."""
    given = models.arguments(job.model, job.batch)
    return gpu.moved(given, job.device, gpu.dtype_of(job.dtype)) if job.is_on_gpu else integers.cast(given, job.dtype)


def calling(function, job: Job) -> Call:
    given = arguments(job)
    return lambda: function(*given)


def make_model(job: Job) -> dict:
    """Leaves what all ways on a CPU begin with: module.pt and script.ts in the job's dtype and, if that is another, in float32; inputs.npz and
    the answer, reference.npz, in float32."""
    import numpy

    import answers

    with torch_libraries(job):
        built = models.build(job.model)
        facts, given = {"weight_bytes": weight_bytes(built)}, arguments(job.in_float32)
        reference = answers.flat(built(*given))
        numpy.savez(job.file("inputs.npz"), *answers.flat(given))
        numpy.savez(job.file("reference.npz"), *reference)
        if job.dtype != "float32":
            os.mkdir(job.in_float32.folder)
            _leave(job.in_float32, built)
        if integers.is_16_bits(job.dtype):
            built = built.to(gpu.dtype_of(job.dtype))
        facts["eager_difference"] = answers.difference(answers.flat(built(*arguments(job))), reference, not models.ALL[job.model].detects)
        _leave(job, built)
    return facts


def _leave(job: Job, built) -> None:
    import torch

    models.script(job.model, built, job.batch, arguments(job)).save(job.file("script.ts"))
    if not isinstance(built, torch.jit.ScriptModule):
        torch.save(built, job.file("module.pt"))


def weight_bytes(module) -> int:
    return sum(parameter.numel() * parameter.element_size() for parameter in module.parameters())


def _saved(name: str) -> Callable[[Job, Any], dict]:
    def save(job: Job, made) -> dict:
        made.save(job.file(name))
        return {"file_bytes": os.path.getsize(job.file(name))}

    return save


def _from(name: str) -> Callable[[Job], Call]:
    def load(job: Job) -> Call:
        import torch

        return calling(torch.jit.load(job.file(name)), job)

    return load


def _prepared(job: Job) -> Call:
    import torch

    import torchtrt.runtime

    module = torch.jit.load(job.file("engine.ts"))
    torchtrt.runtime.prepare(module)
    return calling(module, job)


def _freeze(job: Job, script):
    import torch

    return torch.jit.freeze(script.eval())


def _optimized(job: Job) -> Call:
    """Made where it is loaded: what it is saved as does not load again."""
    import torch

    return calling(torch.jit.optimize_for_inference(torch.jit.freeze(_script(job).eval())), job)


def _inputs(value):
    """The compiler's description of an argument."""
    import torch

    import torchtrt

    if isinstance(value, torch.Tensor):
        return torchtrt.Input(list(value.shape), dtype=value.dtype)
    return [_inputs(each) for each in value] if isinstance(value, list) else value


def _compile(job: Job, script, **options):
    import torchtrt

    if job.is_on_gpu:
        options |= {"device": job.device, "enabled_precisions": {gpu.dtype_of(job.dtype)}}
    elif job.dtype in integers.DTYPES:
        options |= integers.options(job)
    return torchtrt.compile(script, input_signature=tuple(map(_inputs, arguments(job))), **options)


def tune(job: Job) -> dict:
    """Seconds of a compile in which engines are timed against PyTorch, and how many operators are slower in them."""
    import torchtrt

    with torch_libraries(job):
        script, samples = _script(job), list(arguments(job))
        start = time.perf_counter()
        compiled = _compile(job, script, sample_inputs=samples, tune=True)
        seconds = time.perf_counter() - start
    return {"seconds": seconds, "slower": sum(node.reason.startswith("slower than PyTorch") for node in torchtrt.report(compiled).nodes)}


def saved_engine(job: Job, compiled) -> dict:
    """Leaves engine.ts; returns its size and the numbers of its engines and segments."""
    import torchtrt

    report = torchtrt.report(compiled)
    return _saved("engine.ts")(job, compiled) | {"engines": report.engine_segments, "torch_segments": report.torch_segments}


def profile(job: Job, compiled):
    import torchtrt

    return torchtrt.profile(compiled, list(arguments(job)), calls=PROFILED_CALLS)


def _finish_engine(job: Job, compiled) -> dict:
    """The file, and what the engines compute of what the machine can at this moment."""
    facts = saved_engine(job, compiled)
    seen = profile(job, compiled)
    flops = sum(step.flops * engine.calls for engine in seen.engines for step in engine.steps)
    return facts | {"flops": flops, "peak_flops_per_second": seen.flops_per_second}


def in_float32(way: Way) -> Way:
    """Runs the same way on what was left in float32."""
    return Way(lambda job: way.load(job.in_float32), way.libraries, lambda job: way.given(job.in_float32),
               lambda job, given: way.make(job.in_float32, given), lambda job, made: way.finish(job.in_float32, made))


_OURS = Way(_prepared, _runtime_libraries, _script, _compile, _finish_engine)

WAYS: dict[str, Way] = {
    "eager": Way(lambda job: calling(module(job), job), torch_libraries),
    "script": Way(_from("script.ts"), torch_libraries),
    "freeze": Way(_from("freeze.ts"), torch_libraries, _script, _freeze, _saved("freeze.ts")),
    "optimize_for_inference": Way(_optimized, torch_libraries),
    QUANTIZED: Way(_from("quantized.ts"), torch_libraries, module, integers.quantized, _saved("quantized.ts")),
    FLOAT32: in_float32(_OURS),
    ENGINE: _OURS,
}
