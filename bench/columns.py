"""The columns of `./dev bench`'s tables of costs and of engines: a title, and a function that formats a way's figures. It raises KeyError for a
figure that the way does not have."""

from collections.abc import Callable

NONE = "-"
FAILED = "failed"
MEGABYTE = 1e6

Column = tuple[str, Callable[[dict], str]]


def cell(facts: dict, show: Callable[[dict], str]) -> str:
    if "error" in facts:
        return FAILED
    try:
        return show(facts)
    except KeyError:
        return NONE


def _of_peak(what: str, unit: float, digits: int) -> Callable[[dict], str]:
    """Shows the speed of the engine's median call in `unit`s a second, and its share of the peak. `what`: "flops" or "bytes"."""
    def show(facts: dict) -> str:
        speed, peak = facts[what] / facts["milliseconds"]["median"] * 1e3, facts[f"peak_{what}_per_second"]
        return f"{speed / unit:.{digits}f}, {speed / peak:.0%} of {peak / unit:.0f}"

    return show


# The costs of a way beside its calls.
_START: list[Column] = [
    ("making, s (TorchScript's ways and the engine from TorchScript, the others from the Python module)", lambda f: f"{f['make_seconds']:.2f}"),
    ("loading what was made in another process, the engine with runtime.prepare, s", lambda f: f"{f['load_seconds']:.2f}"),
    ("the first call there, in calls of the median's length", lambda f: f"{f['first_call_ms'] / f['milliseconds']['median']:.1f}"),
]
_DIFFERENCE: Column = ("difference from the reference, relative to the largest value", lambda f: f"{f['difference']:.1e}")
COSTS: list[Column] = [
    *_START,
    ("resident after the calls, MB beyond the bare libraries", lambda f: f"{f['resident_bytes'] / MEGABYTE:.0f}"),
    ("peak while loading and calling, MB beyond the bare libraries", lambda f: f"{f['peak_bytes'] / MEGABYTE:.0f}"),
    _DIFFERENCE,
]
GPU_COSTS: list[Column] = [
    *_START,
    ("GPU memory held after the calls, MB beyond the bare libraries, without the free part of PyTorch's cache",
     lambda f: f"{f['resident_bytes'] / MEGABYTE:.0f}"),
    ("peak of GPU memory while loading and calling, MB beyond the bare libraries", lambda f: f"{f['peak_bytes'] / MEGABYTE:.0f}"),
    _DIFFERENCE,
]

# The compiler's results.
_COMPILED: list[Column] = [
    ("engines + PyTorch", lambda f: f"{f['engines']} + {f['torch_segments']}"),
    ("compile s", lambda f: f"{f['make_seconds']:.2f}"),
]
_SIZES: list[Column] = [
    ("peak of it MB", lambda f: f"{f['make_peak_bytes'] / MEGABYTE:.0f}"),
    ("file MB", lambda f: f"{f['file_bytes'] / MEGABYTE:.1f}"),
    ("GFLOP", lambda f: f"{f['flops'] / 1e9:.2f}"),
]
# Building is timed alone and with tune=True, which also counts operators that are slower in engines. The last column is the speed reached, beside
# the machine's measured peak.
ENGINE: list[Column] = [
    *_COMPILED,
    ("tuned s", lambda f: cell(f["tuning"], lambda t: f"{t['seconds']:.2f}")),
    ("slower operators", lambda f: cell(f["tuning"], lambda t: str(t["slower"]))),
    *_SIZES,
    ("GFLOP/s, of peak", _of_peak("flops", 1e9, 1)),
]
# The bound is the time that the card's measured limits leave: for each step the longer of computing and moving its bytes.
GPU_ENGINE: list[Column] = [
    *_COMPILED, *_SIZES,
    ("TFLOP/s, of peak", _of_peak("flops", 1e12, 1)),
    ("GB/s, of memory's", _of_peak("bytes", 1e9, 0)),
    ("bound ms", lambda f: f"{f['bound_ms']:.3f}"),
    ("bound of median", lambda f: f"{f['bound_ms'] / f['milliseconds']['median']:.0%}"),
]
