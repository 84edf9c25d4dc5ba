"""The cost of an engine on a GPU before it is fast: compiling with no kernels at hand and with those on disk, loading, the first call, memory, and
new shapes; beside frozen TorchScript and TorchInductor. Each in a process of its own on two cores."""

import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import torch

from gpu_common import DEVICE, SUITE, first_line, synchronize

NAMES = ("resnet50", "bert-base")
CORES = 2
CALLS = 20
SHAPES = 100
LARGEST_BATCH = 64


@torch.inference_mode()
def startup(arguments) -> None:
    end = time.monotonic() + arguments.seconds
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            for way in ("engine, no kernels on disk", "engine", "engine of a file", "freeze", "inductor"):
                print(_line(name, way, folder, end), flush=True)
        print(_line(NAMES[0], "shapes", folder, end), flush=True)
    print("SUM startup done on", torch.cuda.get_device_name(0))


def _line(name: str, way: str, folder: str, end: float) -> str:
    left = end - time.monotonic()
    if left < 5:
        return f"SLOW {name} {way} was not reached"
    environment = {**os.environ, "TORCHTRT_CUDA_CACHE": f"{folder}/kernels", "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor"}
    command = [sys.executable, SUITE, "one-start", name, way, folder]
    try:
        process = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=left)
    except subprocess.TimeoutExpired:
        return f"SLOW {name} {way} took too long"
    told = [line for line in process.stdout.splitlines() if line.startswith("{")]
    if not told:
        return f"FAIL {name} {way}: exit {process.returncode} {process.stderr[-200:]!r}"
    facts = ", ".join(f"{key} {value}" for key, value in json.loads(told[0]).items())
    return f"TABLE {name:10} {way:27} {facts}"


@torch.inference_mode()
def one_start(name: str, way: str, folder: str) -> None:
    """Prints a line of JSON."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    torch.set_num_threads(CORES)
    import torchtrt  # noqa: F401 - registers the class of engines

    _use_gpu()
    print(json.dumps(_new_shapes(name) if way == "shapes" else _started(name, way, pathlib.Path(folder) / f"{name}.ts")))


def _use_gpu() -> None:
    """PyTorch's own start and its libraries' are not what is timed."""
    x = torch.ones(64, 64, device=DEVICE, dtype=torch.float16)
    torch.nn.functional.conv2d((x @ x).view(1, 64, 8, 8), x.view(64, 64, 1, 1))
    synchronize()


def _used_mib() -> float:
    """Memory of the GPU in use, of whatever library and process."""
    free, total = torch.cuda.mem_get_info(DEVICE)
    return (total - free) / 2**20


def _started(name: str, way: str, file: pathlib.Path) -> dict:
    import torchtrt
    from gpu_bench import engine_of, traced_case

    model, traced, inputs = (None, None, _inputs_of(name, 1)) if way == "engine of a file" else traced_case(name, 1)
    facts, before, start = {}, _used_mib(), time.perf_counter()
    if way == "engine of a file":
        module, what = torch.jit.load(str(file)), "loads in"
        torchtrt.runtime.prepare(module)  # else libtorch's interpreter watches the first calls
    elif way == "freeze":
        module, what = torch.jit.freeze(traced), "freezes in"
    elif way == "inductor":
        module, what = torch.compile(model), "compiles in"
        module(*inputs)
    else:
        module, what = engine_of(traced, inputs), "compiles in"
    synchronize()
    facts[what] = f"{time.perf_counter() - start:.2f} s"
    calls = [_milliseconds(module, inputs) for _ in range(CALLS)]
    facts["first call"] = f"{calls[0]:.1f} ms"
    facts["slowest of the next"] = f"{max(calls[1:]):.1f}"
    facts["median"] = f"{statistics.median(calls[1:]):.2f}"
    facts["GPU memory"] = f"{_used_mib() - before:.0f} MiB more"
    if way == "engine":
        torch.jit.save(module, str(file))
        facts["file"] = f"{file.stat().st_size / 2**20:.0f} MiB"
    return facts


def _inputs_of(name: str, batch: int) -> tuple:
    from gpu_models import cast

    return cast((torch.randint(0, 1000, (batch, 64)),) if name == "bert-base" else (torch.randn(batch, 3, 224, 224),), torch.float16)


def _milliseconds(module, inputs) -> float:
    start = time.perf_counter()
    module(*inputs)
    synchronize()
    return (time.perf_counter() - start) * 1e3


def _new_shapes(name: str) -> dict:
    """First calls of random batches within a range, and memory after half of them and at the end."""
    import torchtrt
    from gpu_bench import traced_case

    _, traced, inputs = traced_case(name, 1)
    x = inputs[0]
    range_of = torchtrt.Input(min_shape=[1, *x.shape[1:]], opt_shape=[8, *x.shape[1:]], max_shape=[LARGEST_BATCH, *x.shape[1:]], dtype=x.dtype)
    module = torchtrt.compile(traced, inputs=[range_of], device=DEVICE, enabled_precisions={torch.float16}, progress=False)
    module(*_inputs_of(name, LARGEST_BATCH))
    random.seed(0)
    batches = [random.randint(1, LARGEST_BATCH) for _ in range(SHAPES)]
    new, known, memory, seen = [], [], [], {LARGEST_BATCH}
    for batch in batches:
        given = _inputs_of(name, batch)
        (known if batch in seen else new).append(_milliseconds(module, given) / batch)
        seen.add(batch)
        memory.append(_used_mib())
    return {"new shapes": len(new), "each": f"{statistics.median(new):.2f} ms an image", "known": f"{statistics.median(known):.2f}",
            "GPU memory": f"{memory[SHAPES // 2]:.0f} MiB after half, {memory[-1]:.0f} at the end"}


def try_start(arguments: list[str]) -> None:
    try:
        one_start(*arguments)
    except Exception as error:  # noqa: BLE001 - the caller prints it
        print(first_line(error), file=sys.stderr)
        sys.exit(1)
