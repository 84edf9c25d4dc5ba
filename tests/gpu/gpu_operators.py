"""The operator table on a GPU, shard by shard in processes of their own."""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time
import traceback

import torch

from gpu_common import DEVICE, SUITE, first_line, implementations, synchronize, to_gpu

# Eager CUDA leaves open which of several values for one place is written and how equal values are ordered; its mean of no complex numbers has
# an imaginary part of 0, where the CPU's is NaN. The engine does as the CPU.
AS_ON_THE_CPU = {"scatter", "index_put_pair", "form_argsort", "complex_mean"}
# The result is on the CPU, so the operator stays in PyTorch and full compilation is refused.
STAYS_IN_PYTORCH = {"form_cpu"}


def operators_of_shard(shard: int, shards: int, skip: int, seconds: float) -> None:
    import operator_table
    import test_operators
    import torchtrt

    pairs = [(line, dtype) for line in operator_table.TABLE[shard::shards] for dtype in line.dtypes]
    end = time.monotonic() + seconds
    for number, (line, dtype) in enumerate(pairs):
        if number < skip:
            continue
        if time.monotonic() > end:
            print(json.dumps({"number": number, "name": "", "state": "late", "left": len(pairs) - number}), flush=True)
            return
        name = f"{line.name}-{str(dtype).removeprefix('torch.')}"
        print(json.dumps({"number": number, "name": name, "state": "begun"}), flush=True)
        result = {"number": number, "name": name, "dtype": str(dtype).removeprefix("torch."), "state": "passed", "host": 0, "native": 0}
        try:
            result["state"] = "passed" if _operator(line, dtype, result, test_operators, torchtrt) else "none"
        except AssertionError as error:
            where = traceback.extract_tb(error.__traceback__)[-1].line  # an assertion without a text says what it asserts
            result.update(state="failed", text="differs: " + (" ".join(str(error).split()) or where)[:200])
        except Exception as error:  # noqa: BLE001 - told, and the table goes on
            result.update(state="failed", text=first_line(error))
        print(json.dumps(result), flush=True)


@torch.inference_mode()
def _operator(line, dtype, result, test_operators, torchtrt) -> bool:
    ran = False
    for case in range(len(line.cases)):
        on_cpu = line.inputs(case, dtype)
        inputs = [to_gpu(x) for x in on_cpu]
        try:
            expected = line.function(*inputs)
        except (RuntimeError, NotImplementedError, IndexError, ValueError, TypeError) as error:
            if "CUDA error" in str(error):
                raise
            continue  # eager takes no such dtype there
        if not isinstance(expected, torch.Tensor) or expected.dtype not in test_operators.TOLERANCES and expected.dtype.is_floating_point:
            continue
        traced = torch.jit.trace(line.function, tuple(inputs), check_trace=False)
        specs = [torchtrt.Input(list(x.shape), dtype=x.dtype) for x in inputs]
        if line.name in STAYS_IN_PYTORCH and DEVICE.startswith("cuda"):
            try:
                torchtrt.compile(traced, inputs=specs, require_full_compilation=True, device=DEVICE)
            except torchtrt.CompileError as error:
                assert "its result is not on" in str(error), f"refused for another reason: {first_line(error)}"
                ran = True
                continue
            raise AssertionError("was compiled, although its result is on the CPU")
        compiled = torchtrt.compile(traced, inputs=specs, require_full_compilation=True, device=DEVICE)
        got = compiled(*inputs)
        synchronize()
        assert got.device == expected.device, f"on {got.device}, expected {expected.device}"
        again = compiled(*inputs)
        assert got.shape != again.shape or torch.equal(torch.nan_to_num(got), torch.nan_to_num(again)), "two calls differ in their bits"
        judge = line.function(*on_cpu) if line.name in AS_ON_THE_CPU else expected.cpu()
        test_operators.assert_equal(got.cpu(), judge, line, on_cpu)
        chosen = implementations(compiled)
        result["host"] += chosen["host"]
        result["native"] += sum(chosen.values()) - chosen["host"]
        ran = True
    return ran


def operators(arguments) -> None:
    shards = min(14, os.cpu_count() or 1)
    end = time.monotonic() + arguments.seconds - 5
    results: list[dict] = []
    lock = threading.Lock()

    def serve(shard: int) -> None:
        skip = 0
        while time.monotonic() < end:
            process = subprocess.Popen(
                [sys.executable, SUITE, "operators-of-shard", "--shard", str(shard), "--shards", str(shards), "--skip", str(skip),
                 "--seconds", str(end - time.monotonic())], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            begun = None
            hangs = threading.Timer(max(1.0, end - time.monotonic()), process.kill)
            hangs.start()
            for text in process.stdout:
                if not text.startswith("{"):
                    continue
                told = json.loads(text)
                begun = told if told["state"] == "begun" else None
                if begun is None:
                    with lock:
                        results.append(told)
            hangs.cancel()
            process.wait()
            if begun is None:
                return
            with lock:
                is_late = time.monotonic() >= end - 1
                results.append({**begun, "state": "late" if is_late else "crashed", "text": f"exit {process.returncode}", "left": int(is_late)})
            skip = begun["number"] + 1

    with concurrent.futures.ThreadPoolExecutor(shards) as pool:
        list(pool.map(serve, range(shards)))
    (pathlib.Path(arguments.out) / "operators.json").write_text(json.dumps(results))
    reasons = collections.Counter()
    for each in results:
        if each["state"] in ("failed", "crashed"):
            print("FAIL" if each["state"] == "failed" else "CRASH", each["name"], each.get("text", ""))
            reasons[re.sub(r"\d[\d.e+-]*", "N", each.get("text", ""))[:90]] += 1
    for reason, count in reasons.most_common(12):
        print(f"SUM {count} x {reason}")
    by_dtype = collections.defaultdict(collections.Counter)
    for each in results:
        by_dtype[each.get("dtype", "-")][each["state"]] += 1
    for dtype, states in by_dtype.items():
        print(f"TABLE {dtype:10}", dict(states))
    states = collections.Counter(each["state"] for each in results)
    late = sum(each.get("left", 0) for each in results)
    print(f"SUM operators: {states['passed']} passed, {states['failed']} failed, {states['crashed']} crashed, {late} not reached; "
          f"steps: {sum(each.get('native', 0) for each in results)} on the GPU, {sum(each.get('host', 0) for each in results)} on the host")
