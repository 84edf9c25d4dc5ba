"""Times an engine on a GPU: each kernel of a replayed call by the GPU's own clock, the gaps between them, and the engine's steps."""

import collections
import re

import torch

from gpu_bench import cases_in, engine_of, milliseconds, traced_case
from gpu_common import first_line, synchronize

REPLAYS = 10
MOST_KERNELS = 14  # lines for each model
MOST_STEPS = 6


@torch.inference_mode()
def kernels(arguments) -> None:
    import torchtrt

    for name, batch in cases_in(arguments.seconds):
        try:
            _, traced, inputs = traced_case(name, batch)
            compiled = engine_of(traced, inputs)
            _print_kernels(f"{name} batch {batch}", compiled, inputs)
            _print_steps(torchtrt.profile(compiled, list(inputs), 10))
        except Exception as error:  # noqa: BLE001 - told, and the others run
            print("FAIL", name, batch, first_line(error))
    print("SUM kernels done on", torch.cuda.get_device_name(0))


def _print_kernels(label: str, compiled, inputs) -> None:
    replay = milliseconds(compiled, inputs, False) * 1e3
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        for _ in range(REPLAYS):
            compiled(*inputs)
            synchronize()
    events = sorted((e for e in profiler.events() if e.device_type == torch.autograd.DeviceType.CUDA), key=lambda e: e.time_range.start)
    times, counts = collections.Counter(), collections.Counter()
    for event in events:
        times[_short(event.name)] += event.time_range.elapsed_us() / REPLAYS
        counts[_short(event.name)] += 1
    busy, each = sum(times.values()), len(events) / REPLAYS
    print(f"TABLE {label}: a call {replay:.0f} us, {each:.0f} kernels that sum to {busy:.0f} us, {(replay - busy) / max(each, 1):.2f} us beside each")
    for name, time_of in times.most_common(MOST_KERNELS):
        print(f"TABLE   {time_of:7.1f} us  {counts[name] / REPLAYS:5.1f} x {name}")


def _short(name: str) -> str:
    """The name of a kernel without its return type, namespaces and arguments."""
    name = re.sub(r"^void |\(.*$|<unnamed>::|[a-z_0-9]+::", "", name)
    return name if len(name) < 72 else name[:44] + ".." + name[-26:]


def _print_steps(profile) -> None:
    times, counts = collections.Counter(), collections.Counter()
    for step in (step for engine in profile.engines for step in engine.steps):
        kind = f"{step.family} [{step.implementation}]"
        times[kind] += step.microseconds
        counts[kind] += 1
    told = ", ".join(f"{counts[kind]} {kind} {time_of:.0f}" for kind, time_of in times.most_common(MOST_STEPS))
    print(f"TABLE   steps, us with what each costs alone: {told}")
