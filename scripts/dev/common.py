"""Paths, the progress lines and the locks that every part of ./dev uses. Knows nothing of what is built."""

import contextlib
import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "torchtrt"
VENV_LINK = ROOT / ".venv"
START = time.monotonic()


class Environment:
    """The environment that is built with and run in. machine.make_ready says which; .venv is that of the pinned torch."""

    folder = VENV_LINK
    torch = ""  # a release other than the pinned one, as in 2.8.0


class Failure(Exception):
    """Ends ./dev with a message and exit code 1, without a traceback."""


def say(text: str) -> None:
    """Prints one progress line with the seconds since ./dev began."""
    print(f"[{time.monotonic() - START:6.1f} s] {text}", flush=True)


def run(command, what: str, **kwargs) -> None:
    """Runs a command with its output shown; a failure names what it was for."""
    result = subprocess.run([str(part) for part in command], check=False, **kwargs)
    if result.returncode != 0:
        raise Failure(f"{what} failed with exit code {result.returncode}")


def captured(command) -> subprocess.CompletedProcess:
    """Runs a command in the checkout and keeps its output; the caller looks at the exit code."""
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def run_logged(command, what: str, log: Path) -> None:
    """Runs a long, talkative command with its output in a file; says that it goes on, shows the end if it fails."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "w", encoding="utf-8") as output:
        process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        while True:
            try:
                code = process.wait(timeout=15)
                break
            except subprocess.TimeoutExpired:
                say(f"... {what} goes on")
    if code != 0:
        end = log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]
        raise Failure(f"{what} failed with exit code {code}; the end of {log}:\n" + "\n".join(end))


@contextlib.contextmanager
def locked(path: Path):
    """Holds an exclusive lock on a file; says so when it has to wait for another ./dev."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another ./dev that holds {path}")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def python() -> Path:
    return Environment.folder / "bin" / "python"


def warn(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
