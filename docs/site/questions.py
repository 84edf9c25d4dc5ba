"""A newcomer's questions, asked in the built site's own search, in Chromium:

    python docs/site/questions.py

Prints the first pages of each search, and fails if none of the first three is the right one. Standard library only.
"""

import html
import re
import subprocess
import sys
import tempfile
import urllib.parse
from pathlib import Path

SITE = Path(__file__).resolve().parents[2] / "build" / "docs" / "html"
TOP = 3
# Question, the words that a reader types, and the pages that answer.
QUESTIONS = [
    ("How do I load this in C++?", "load in C++", {"docs/deployment", "docs/tutorials/cpp_deployment"}),
    ("Why is this operator in PyTorch?", "operator in PyTorch", {"docs/fallback", "docs/tutorials/fallback"}),
    ("How do I make it accept several batch sizes?", "several batch sizes", {"docs/dynamic_shapes", "docs/tutorials/ranges"}),
    ("How much accuracy does int8 cost?", "int8 accuracy", {"docs/int8", "docs/tutorials/half_and_int8"}),
    ("The result is wrong. Where do I look?", "wrong number", {"docs/debugging", "docs/tutorials/wrong_number"}),
    ("How do I add an operator of my own?", "own operator converter", {"docs/adding_a_converter", "docs/tutorials/converter"}),
    ("I use torch_tensorrt. What changes?", "migrate from torch_tensorrt", {"docs/migration"}),
    ("Can I compile for a GPU on a machine without one?", "compile without GPU", {"docs/gpu", "docs/tutorials/gpu"}),
    ("What does error C002 mean?", "C002", {"docs/errors/C002"}),
    ("Does a detection model run without torchvision?", "detection without torchvision", {"docs/tutorials/detection", "docs/deployment"}),
]


def found(words: str) -> list[str]:
    """The pages that the search page lists, best first."""
    address = f"file://{SITE}/search.html?q={urllib.parse.quote_plus(words)}"
    with tempfile.TemporaryDirectory() as profile:
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--virtual-time-budget=20000",
                   "--allow-file-access-from-files", "--dump-dom", address]
        dom = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    results = re.search(r'<div id="search-results">(.*)', dom, re.DOTALL)
    targets = re.findall(r'<li class="[^"]*kind-[^"]*"[^>]*><a href="([^"]+)"', results.group(1)) if results else []
    pages = [html.unescape(target).partition("?")[0].partition("#")[0].removesuffix(".html") for target in targets]
    return list(dict.fromkeys(pages))


def main() -> int:
    failures = 0
    for question, words, right in QUESTIONS:
        pages = found(words)
        place = next((i + 1 for i, page in enumerate(pages) if page in right), None)
        is_right = place is not None and place <= TOP
        failures += not is_right
        print(f"{'ok ' if is_right else 'BAD'} {question}  [{words}]  place {place}: {', '.join(pages[:TOP])}", flush=True)
    print(f"{len(QUESTIONS) - failures} of {len(QUESTIONS)} questions have the right page among the first {TOP}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
