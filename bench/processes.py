"""Starts the benchmark's processes, which are Python files of this folder, and talks to them: a line of JSON at a time, each within a limit
of time. talk.py is the processes' side."""

import json
import os
import pathlib
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterable

from job import Job

HERE = pathlib.Path(__file__).parent
IDLE_SECONDS = 0.3  # threads of a process that still run after this are left running


class Failed(Exception):
    """Holds what a process said when it failed, or its exit status."""


class Process:
    def __init__(self, file: str, arguments: list[str], log: str):
        """`file` is run with `arguments`; what it and its libraries print goes to the file `log`."""
        self._log = open(log, "w+", encoding="utf-8", errors="replace")
        self._process = subprocess.Popen([sys.executable, HERE / file, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=self._log, start_new_session=True)
        os.set_blocking(self._process.stdout.fileno(), False)
        self._said = b""

    @property
    def pid(self) -> int:
        return self._process.pid

    def listen(self, seconds: float) -> dict:
        """The next line; a process that says nothing for so long, fails or ends raises Failed, and is ended."""
        end = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._said:
                if not selector.select(max(0, end - time.monotonic())):
                    self._fail(f"no answer within {seconds:.0f} s")
                piece = self._process.stdout.read()
                if piece == b"":
                    self._fail(f"ended with status {self._process.wait()}{self._last_words()}")
                self._said += piece or b""
        line, self._said = self._said.split(b"\n", 1)
        facts = json.loads(line)
        if "error" in facts:
            self._fail(facts["error"])
        return facts

    def ask(self, question: dict, seconds: float) -> dict:
        try:
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # how it ended is what listen() tells
        return self.listen(seconds)

    def has_spoken(self) -> bool:
        """True if the process told something that was not heard yet, or ended."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            return bool(self._said or selector.select(0))

    def wait_until_idle(self) -> None:
        """Waits until all its threads sleep. A pool spins after a call, and would slow the next process down."""
        end = time.monotonic() + IDLE_SECONDS
        while self._is_running() and time.monotonic() < end:
            time.sleep(0.001)

    def end(self) -> None:
        if self._process.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._log):
            try:
                stream.close()
            except BrokenPipeError:
                pass

    def _is_running(self) -> bool:
        for path in pathlib.Path(f"/proc/{self.pid}/task").glob("*/stat"):
            try:
                if path.read_text().rpartition(")")[2].split()[0] == "R":
                    return True
            except OSError:
                continue  # a thread that ended
        return False

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = self._log.read().strip().splitlines()
        return f": {lines[-1]}" if lines else ""

    def _fail(self, text: str) -> None:
        self.end()
        raise Failed(text)


def of_job(action: str, job: Job) -> Process:
    return Process("worker.py", [action, job.to_json()], job.file(f"{action}-{job.way}.log"))


def figures(process: Process, seconds: float, question: dict | None = None) -> dict:
    """What a process says, to the question if there is one, or its error as {"error": text}."""
    try:
        return process.listen(seconds) if question is None else process.ask(question, seconds)
    except Failed as failure:
        return {"error": str(failure)}


class Group:
    """Processes that start side by side, one for each way, and work one after the other, as answer() asks for it.

    On a GPU all of them have loaded their libraries before the first one works. The others are idle then: they take no part of the GPU, and what
    it tells of its memory is of the one that works.
    """

    def __init__(self, action: str, jobs: Iterable[Job], seconds: float):
        self._seconds = seconds
        self.processes: dict[str, Process] = {}
        self._ready: dict[str, dict] = {}  # what those on a GPU said first
        try:
            for job in (jobs := list(jobs)):
                self.processes[job.way] = of_job(action, job)
            for job in jobs:
                if job.is_on_gpu:
                    self._ready[job.way] = figures(self.processes[job.way], seconds)
        except BaseException:
            self.end()
            raise

    def answer(self, way: str) -> dict:
        """The figures of a process, or its error; nothing for a way that the group does not have."""
        ready = self._ready.get(way, {})
        if way not in self.processes or "error" in ready:
            return ready
        return figures(self.processes[way], self._seconds, {"begin": True} if ready else None)

    def end(self) -> None:
        for process in self.processes.values():
            process.end()


def answer_of(action: str, job: Job, seconds: float) -> dict:
    """Returns the one message of a process that says one thing and ends."""
    process = of_job(action, job)
    try:
        return process.listen(seconds)
    finally:
        process.end()
