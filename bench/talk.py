"""A process of the benchmark talks with its starter (processes.py) in lines of JSON on stdin and stdout."""

import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator


def questions() -> Iterator[dict]:
    for line in sys.stdin:
        yield json.loads(line)


def described(problem: Exception) -> str:
    text = str(problem).strip().splitlines()
    return f"{type(problem).__name__}: {text[0] if text else ''}"


def run(main: Callable[[Callable[[dict], None]], None]) -> None:
    """Calls `main` with a function that tells facts, or tells its error in their place, and ends the process. Output of libraries goes to
    stderr."""
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.filterwarnings("ignore")  # of tracing and exporting

    def tell(facts: dict) -> None:
        channel.write(json.dumps(facts) + "\n")
        channel.flush()

    try:
        main(tell)
    except Exception as problem:  # noqa: BLE001 - whatever stops one, the others are measured, and its error is shown
        traceback.print_exc()
        tell({"error": described(problem)})
    os._exit(0)  # libraries that do not come to an end have nothing more to say
