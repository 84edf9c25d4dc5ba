"""A process of host.py: `host_worker.py FILE THREADS`. Loads a compiled file, calls it once, and tells the seconds of loading and the result's
sum; then answers {"rounds": N} with the median milliseconds of N calls, and {"memory": true} with its bytes in memory. Without THREADS it
loads the libraries alone."""

import pathlib
import statistics
import sys
import time

import talk


def memory() -> dict:
    """Resident bytes, and the proportional ones: pages that N processes map count 1/N."""
    lines = pathlib.Path("/proc/self/smaps_rollup").read_text().splitlines()
    values = {line.split()[0].rstrip(":"): int(line.split()[1]) * 1024 for line in lines[1:]}
    return {"resident": values["Rss"], "proportional": values["Pss"]}


def main(tell) -> None:
    import torch

    import torchtrt.runtime
    from memory import settled

    if len(sys.argv) < 3:
        tell({})
        for _ in talk.questions():
            settled()
            tell(memory())
    file, threads = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(threads)
    sample = torch.load(file + ".input")
    begin = time.perf_counter()
    module = torch.jit.load(file)
    loaded = time.perf_counter() - begin
    with torch.inference_mode():
        total = module(sample)
        total = total[0] if isinstance(total, (tuple, list)) else total
        shared = sum(engine.shared_bytes() for engine in torchtrt.runtime.engines(module).values())
        tell({"load": loaded, "sum": float(total.double().sum()), "shared": shared})
        for question in talk.questions():
            if "memory" in question:
                settled()
                tell(memory())
                continue
            times = []
            for _ in range(question["rounds"]):
                begin = time.perf_counter()
                module(sample)
                times.append((time.perf_counter() - begin) * 1e3)
            tell({"milliseconds": statistics.median(times)})


if __name__ == "__main__":
    talk.run(main)
