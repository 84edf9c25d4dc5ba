#!/usr/bin/env python3
"""Prints the lines of code per folder and names files above the soft limit. Informs, never fails."""

import subprocess
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUFFIXES = {".h", ".cpp", ".def", ".fbs", ".py", ".cmake"}
SOFT_LIMIT = 400


def folder_of(path: Path) -> str:
    """src/ and tests/ count by their subfolders, the rest by the top folder."""
    if len(path.parts) == 1:
        return "."
    return "/".join(path.parts[: 2 if path.parts[0] in ("src", "tests", "python") and len(path.parts) > 2 else 1])


def main() -> None:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files: dict[str, int] = defaultdict(int)
    lines: dict[str, int] = defaultdict(int)
    long_files = []
    for name in listing.splitlines():
        path = Path(name)
        if path.suffix not in SUFFIXES or not (ROOT / path).is_file():
            continue
        text = (ROOT / path).read_text(encoding="utf-8").splitlines()
        count = sum(1 for line in text if line.strip())
        files[folder_of(path)] += 1
        lines[folder_of(path)] += count
        if len(text) > SOFT_LIMIT:
            long_files.append((len(text), name))
    for folder in sorted(lines):
        print(f"{lines[folder]:>7} lines {files[folder]:>4} files  {folder}")
    print(f"{sum(lines.values()):>7} lines {sum(files.values()):>4} files  in all (without blank lines)")
    for count, name in sorted(long_files, reverse=True):
        print(f"above the soft limit of {SOFT_LIMIT} lines: {name} has {count}")


if __name__ == "__main__":
    main()
