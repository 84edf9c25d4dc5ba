"""`./dev bench --peers --ahead N`: compiles TorchInductor's modules of N cells side by side, before anything is timed.

With max-autotune TorchInductor compiles for minutes, for the most part on one or two cores. What it leaves in a cell's folder is loaded when the
cell is measured.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import time
from collections.abc import Callable

import processes
import timing
from job import Cell, Job

WAY = "inductor"
THREADS = "TORCHINDUCTOR_COMPILE_THREADS"


@dataclasses.dataclass(frozen=True)
class Made:
    """The folder of a cell with its model in it, what was told of the model, and the figures of the ways that were made there."""

    folder: str
    model: dict
    ways: dict[str, dict]


class Ahead:
    """The folders of cells below one folder, which outlast the process."""

    def __init__(self, folder: pathlib.Path):
        self._folder = folder

    def _path(self, cell: Cell) -> pathlib.Path:
        return self._folder / f"{cell.model}-{cell.batch}-{cell.threads}-{cell.dtype}-{cell.device.replace(':', '-')}"

    def find(self, cell: Cell) -> Made | None:
        """Returns what was made of the cell; None if nothing was, or if making its model failed."""
        path = self._path(cell)
        facts = json.loads((path / "made.json").read_text(encoding="utf-8")) if (path / "made.json").exists() else {}
        return Made(str(path), facts["model"], {WAY: facts["made"]}) if "model" in facts else None

    def make(self, cells: list[Cell], most: int, limit: float, say: Callable[[str], None]) -> None:
        """Makes what is missing, in up to `most` processes at a time. No process may take longer than `limit` seconds."""
        waiting = [cell for cell in cells if not self.find(cell)]
        running: dict[Cell, processes.Process] = {}
        ends: dict[Cell, float] = {}
        with _threads_of_each(min(most, max(1, len(waiting)))), contextlib.ExitStack() as at_end:
            while waiting or running:
                while waiting and len(running) < most:
                    cell = waiting.pop(0)
                    self._path(cell).mkdir(parents=True, exist_ok=True)  # what TorchInductor left before it was ended saves time
                    running[cell] = processes.of_job("ahead", Job.of_cell(WAY, cell, str(self._path(cell))))
                    at_end.callback(running[cell].end)
                    ends[cell] = time.monotonic() + limit
                for cell, process in list(running.items()):
                    has_spoken = process.has_spoken()
                    if has_spoken or time.monotonic() > ends[cell]:
                        facts = processes.figures(process, limit) if has_spoken else {"error": f"no answer within {limit:.0f} s"}
                        running.pop(cell).end()
                        (self._path(cell) / "made.json").write_text(json.dumps(facts), encoding="utf-8")
                        say(f"{cell.model}, batch {cell.batch}, {cell.dtype}: {_told(facts)}")
                time.sleep(0.1)


def _told(facts: dict) -> str:
    made = facts.get("made", facts)
    return made["error"] if "error" in made else f"{WAY} compiled for {made['make_seconds']:.0f} s"


@contextlib.contextmanager
def _threads_of_each(processes_at_once: int):
    """Shares the cores among processes of TorchInductor, unless the user said how many threads one has."""
    said = THREADS in os.environ
    os.environ.setdefault(THREADS, str(max(1, timing.threads_available() // processes_at_once)))
    try:
        yield
    finally:
        if not said:
            del os.environ[THREADS]
