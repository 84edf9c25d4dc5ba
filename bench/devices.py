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
    own_below: dict[str, list[str]]  # the same of dtypes that have others
    torchscript: list[str]  # of these, those that start from TorchScript
    peers: list[str]  # names of other systems
    peers_for_a_win: int  # so many have to run rightly, where any are asked for
    compares_all: bool  # shows the ratio to the best of all ways, also where no other system is asked for
    dtypes: tuple[str, ...]
    lacking: dict[str, list[str]]  # names of other systems that a dtype is not measured with
    costs: list[columns.Column]
    engine: list[columns.Column]

    def names(self, dtype: str, asked: list[str]) -> list[str]:
        """The ways of a dtype, with those of the `asked` other systems that have it. The engine is the last one."""
        own = self.own_below.get(dtype, self.own)
        others = [name for name in asked if name not in self.lacking.get(dtype, [])]
        return [*(name for name in own if name not in OURS), *others, *(name for name in own if name in OURS)]

    def needed(self, dtype: str) -> int:
        """So many of the other systems have to run rightly for a win."""
        return min(self.peers_for_a_win, len(self.peers) - len(self.lacking.get(dtype, [])))


OURS = (ways.FLOAT32, ways.ENGINE)
_IN_16_BITS = ["eager", "freeze", *OURS]
_CPU = Device(ways.WAYS | peers.PEERS, ways.NAMES,
              {"float16": _IN_16_BITS, "bfloat16": _IN_16_BITS, "int8": [ways.QUANTIZED, *OURS], "int4": [*OURS]},
              ways.TORCHSCRIPT, peers.NAMES, 2, False, ("float32", "float16", "bfloat16", "int8", "int4"), peers.LACKING,
              columns.COSTS, columns.ENGINE)
_GPU = Device(gpu_ways.WAYS, gpu_ways.NAMES, {}, gpu_ways.TORCHSCRIPT, gpu_ways.PEERS, 1, True, ("float32", "tf32", "float16", "bfloat16"),
              {}, columns.GPU_COSTS, columns.GPU_ENGINE)


def of(device: str) -> Device:
    """`device` is "cpu", or for example "cuda:0"."""
    return _CPU if device == job.CPU else _GPU
