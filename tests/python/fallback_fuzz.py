"""Random sets of operators kept in PyTorch, over models of every kind, against eager ones.

    python tests/python/fallback_fuzz.py [--seeds 20] [--only TEXT]

Each model of bench/catalog.py runs in a process of its own, where a crash is a finding too. Prints a line per model and what failed, and
at the end the runs, the share of them in which engines ran, and the differences.
"""

import argparse
import dataclasses
import json
import pathlib
import subprocess
import sys
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "bench"))
import catalog  # noqa: E402 - beside the benchmark, which has the same models
import fallback  # noqa: E402

TIMEOUT_S = 3600  # of a model


@dataclasses.dataclass
class Tally:
    """Counts the outcomes of a model's seeds. A run in which no engine ran shows nothing, so it is counted apart."""

    runs: int = 0
    ran_engines: int = 0
    worst: float = 0.0  # the largest difference, of the largest value
    failures: list[str] = dataclasses.field(default_factory=list)

    def add(self, other: "Tally") -> None:
        self.runs += other.runs
        self.ran_engines += other.ran_engines
        self.worst = max(self.worst, other.worst)
        self.failures += other.failures

    def __str__(self):
        share = self.ran_engines / max(self.runs, 1)
        return (f"{self.runs} runs, engines ran in {self.ran_engines} ({share:.0%}), {len(self.failures)} failures, largest difference "
                f"{self.worst:.1e}")


@torch.jit.optimized_execution(False)  # specialising graphs of detection models takes minutes and decides nothing here
def run_model(name: str, seeds: int) -> Tally:
    """Compiles the model once for each seed and compares all of its calls."""
    case = catalog.make(name)
    expected = fallback.expected_of(case)
    tally = Tally(runs=seeds)
    for seed in range(seeds):
        operators = fallback.chosen_operators(case.script, seed)
        try:
            worst, engine_ran = fallback.compare(case, fallback.compile_case(case, torch_executed_ops=operators), expected)
        except Exception as error:  # noqa: BLE001 - every failure of the compiler is a finding
            tally.failures.append(f"seed {seed}: {type(error).__name__}: {error}\n  torch_executed_ops={operators}")
            continue
        tally.ran_engines += engine_ran
        tally.worst = max(tally.worst, worst)
        if worst > fallback.tolerance(case):
            tally.failures.append(f"seed {seed}: differs by {worst:.1e}\n  torch_executed_ops={operators}")
    return tally


def isolated(name: str, seeds: int) -> Tally:
    """run_model() in a process of its own."""
    command = [sys.executable, __file__, "--model", name, "--seeds", str(seeds)]
    try:
        process = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return Tally(failures=[f"no end after {TIMEOUT_S} s"])
    if process.returncode != 0:
        return Tally(failures=[f"exit code {process.returncode}: {process.stderr.strip()[-2000:]}"])
    return Tally(**json.loads(process.stdout.splitlines()[-1]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", default="", metavar="TEXT", help="models whose name contains this")
    parser.add_argument("--model", metavar="NAME", help="this model in this process; prints what became of it as JSON")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    if options.model:
        print(json.dumps(dataclasses.asdict(run_model(options.model, options.seeds))))
        return 0
    total = Tally()
    names = [name for name in catalog.CATALOG if options.only in name]
    for name in names:
        tally = isolated(name, options.seeds)
        print("\n  ".join([f"{name}: {tally}", *tally.failures]), flush=True)
        total.add(tally)
    print(f"{len(names)} models: {total}")
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
