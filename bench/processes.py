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


def answer_of(action: str, job: Job, seconds: float) -> dict:
    """Returns the one message of a process that says one thing and ends."""
    process = of_job(action, job)
    try:
        return process.listen(seconds)
    finally:
        process.end()
