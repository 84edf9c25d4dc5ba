"""Resident memory of this process, from /proc/self. Bytes."""

import ctypes
import gc
import pathlib


def _status(field: str) -> int:
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {field}")


def resident() -> int:
    return _status("VmRSS")


def settled() -> int:
    """Returns the resident bytes after unused memory was given back to the system."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return resident()


def peak() -> int:
    """The most that was resident since the process began, or since restart_peak()."""
    return _status("VmHWM")


def restart_peak() -> None:
    pathlib.Path("/proc/self/clear_refs").write_text("5")
