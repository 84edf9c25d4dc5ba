"""Tells what `./dev bench` measures on a CPU and on a GPU: ways, other systems, dtypes, and the columns of its tables."""

import dataclasses

import columns
import gpu_ways
import job
import peers
import ways


@dataclasses.dataclass(frozen=True)
class Device:
    ways: dict[str, ways.Way]  # other systems among them
    own: list[str]  # names of PyTorch's ways, and the engine as the last one
    torchscript: list[str]  # of these, those that start from TorchScript
    peers: list[str]  # names of other systems
    peers_for_a_win: int  # so many have to run rightly, where any are asked for
    compares_all: bool  # shows the ratio to the best of all ways, also where no other system is asked for
    dtypes: tuple[str, ...]
    costs: list[columns.Column]
    engine: list[columns.Column]


_CPU = Device(ways.WAYS | peers.PEERS, ways.NAMES, ways.TORCHSCRIPT, peers.NAMES, 2, False, ("float32",), columns.COSTS, columns.ENGINE)
_GPU = Device(gpu_ways.WAYS, gpu_ways.NAMES, gpu_ways.TORCHSCRIPT, gpu_ways.PEERS, 1, True, job.DTYPES, columns.GPU_COSTS, columns.GPU_ENGINE)


def of(device: str) -> Device:
    """`device` is "cpu", or for example "cuda:0"."""
    return _CPU if device == job.CPU else _GPU
