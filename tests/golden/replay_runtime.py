#!/usr/bin/env python3
"""Runs the modules of a folder of golden files with the runtime alone, as where they are deployed; tests/python/test_golden.py compares.

    python tests/golden/replay_runtime.py FOLDER RESULTS

RESULTS becomes a file with the outputs of every module by name. Fails if the compiler's library is mapped."""

import os
import sys
from pathlib import Path

os.environ.update(TORCHTRT_MAX_ISA="avx2", ATEN_CPU_CAPABILITY="avx2")  # as make.py does

import torch

import torchtrt.runtime  # noqa: F401 - registers the class of engines


def main(folder: Path, results: Path):
    torch.set_num_threads(1)
    found = {}
    for path in sorted(folder.glob("*.ts")):
        module = torch.jit.load(str(path))
        answers = [module(*inputs) for inputs, _ in torch.load(folder / f"{path.stem}.pt")]
        found[path.stem] = [list(answer) if isinstance(answer, tuple) else [answer] for answer in answers]
    mapped = {line.rpartition("/")[2].split(".so")[0] for line in Path("/proc/self/maps").read_text().splitlines()}
    if "libtorchtrt_runtime" not in mapped or mapped & {"libtorchtrt", "libtorchtrt_network"}:
        sys.exit("expected the runtime's library without the compiler's, got " + ", ".join(sorted(name for name in mapped if "torchtrt" in name)))
    torch.save(found, results)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
