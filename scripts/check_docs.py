#!/usr/bin/env python3
"""Checks that documentation and header comments name what exists: files, links, ./dev commands, options of our tools and environment
variables; and that the table of files in a stage's README has every file of the stage. Exits with 1 and one line per offence."""

import fnmatch
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Folders that a path in a text may begin with; others are examples ("out.ts") or paths of the user.
TOP_FOLDERS = ("bench", "cmake", "docs", "examples", "include", "python", "scripts", "src", "tests", "tools", ".ci", ".github")
PATH = re.compile(r"(?<![\w/.<-])((?:" + "|".join(map(re.escape, TOP_FOLDERS)) + r")/[\w./<>*{},-]*[\w*>}/])")
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")
DEV = re.compile(r"\./dev ([a-z][\w-]*)")
VARIABLE = re.compile(r"\b(TORCHTRT_[A-Z][A-Z_]+[A-Z])\b")
OPTION = re.compile(r"(?<![\w-])(--[a-z][\w-]*\w)(?!-)\b")
DECISION = re.compile(r"\bdecisions?/?\s?\(?(\d{4})\b")
TABLE_ROW = re.compile(r"^\| `.*$", re.MULTILINE)
COMMENT = re.compile(r"^\s*(?://|#)(.*)$", re.MULTILINE)
# Programs of others whose options our texts name.
FOREIGN = re.compile(r"\b(pip|cmake|ninja|git|apt-get|pytest|ctest|perf|gdb|nvcc|ldd|ruff)\b")
SOURCES = (".cpp", ".h", ".py", ".def", ".cmake", ".txt", ".fbs", ".toml")


@lru_cache
def tracked() -> tuple[str, ...]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return tuple(name for name in names if (ROOT / name).is_file())


@lru_cache
def code() -> str:
    """All program text: what a documented variable or option has to stand in."""
    parts = [(ROOT / name).read_text(encoding="utf-8", errors="replace") for name in tracked()
             if (name.endswith(SOURCES) or name == "dev") and not name.startswith("docs/") and not name.endswith(("check_docs.py", "test_docs_check.py"))]
    return "\n".join(parts)


def words(text: str, pattern: re.Pattern) -> set[str]:
    return set(pattern.findall(text))


@lru_cache
def known_variables() -> set[str]:
    return words(code(), VARIABLE)


@lru_cache
def known_options() -> set[str]:
    return words(code(), re.compile(r"(--[a-z][\w-]+)")) | {"--help", "--version"}


@lru_cache
def dev_commands() -> set[str]:
    text = (ROOT / "scripts/dev/cli.py").read_text(encoding="utf-8")
    return words(text, re.compile(r'command\(\s*"([a-z]+)"'))


def exists(path: str) -> bool:
    """True if a tracked file or folder has that path; "<name>", "NAME" and "*" stand for any text, "{a,b}" for each of its parts."""
    braces = re.search(r"\{([^{}]*)\}", path)
    if braces:
        return all(exists(path[: braces.start()] + part + path[braces.end() :]) for part in braces.group(1).split(","))
    path = path.rstrip("/")
    pattern = re.sub(r"<[^<>]*>|\\\*|NAME", "[^/]*", re.escape(path).replace(r"\<", "<").replace(r"\>", ">"))
    # A path without suffix is a folder, a file of any suffix, or the number of a decision.
    return any(re.match(pattern + r"(?:[/._-].*)?$", name) for name in tracked())


def offences_in_text(name: str, text: str):
    for path in sorted(words(text, PATH)):
        if not exists(path.rstrip(".,")):
            yield f"{name}: names {path}, which does not exist"
    for command in sorted(words(text, DEV) - dev_commands()):
        yield f"{name}: names ./dev {command}, which is no command"
    for variable in sorted(words(text, VARIABLE) - known_variables()):
        yield f"{name}: names the variable {variable}, which no program reads"
    for number in sorted(words(text, DECISION)):
        if not list((ROOT / "docs/decisions").glob(f"{number}-*.md")):
            yield f"{name}: names decision {number}, which does not exist"


def offences_in_page(name: str, text: str):
    folder = (ROOT / name).parent
    prose = re.sub(r"```.*?```|`[^`]*`|^    .*$", "", text, flags=re.DOTALL | re.MULTILINE)
    for target in sorted(words(prose, LINK)):
        if "://" not in target and not (folder / target).exists():
            yield f"{name}: links to {target}, which does not exist"
    for line in text.splitlines():
        if not FOREIGN.search(line):
            for option in sorted(words(line, OPTION) - known_options()):
                yield f"{name}: names the option {option}, which no program has"


def offences_in_table(readme: Path):
    """A README whose table lists the folder's files by stem has to list all of them."""
    stems = {path.stem for path in readme.parent.glob("*.cpp")}
    rows = TABLE_ROW.findall(readme.read_text(encoding="utf-8"))
    listed = {re.sub(r"\.[\w*]+$", "", word) for row in rows for word in re.findall(r"`([^`]+)`", row)}
    missing = {stem for stem in stems if not any(fnmatch.fnmatch(stem, word) for word in listed)}
    if len(missing) * 2 < len(stems):
        for stem in sorted(missing):
            yield f"{readme.relative_to(ROOT)}: its table has no row for {stem}.cpp"


def offences():
    for name in tracked():
        path = ROOT / name
        if name.endswith(".md"):
            text = path.read_text(encoding="utf-8")
            yield from offences_in_text(name, text)
            yield from offences_in_page(name, text)
            if name.startswith("src/") and path.name == "README.md":
                yield from offences_in_table(path)
        elif name.endswith((".h", ".cpp", ".def")) or path.name == "CMakeLists.txt":
            comments = "\n".join(COMMENT.findall(path.read_text(encoding="utf-8")))
            yield from offences_in_text(name, comments)


def main() -> int:
    found = list(offences())
    for line in found:
        print(line)
    if not found:
        print(f"documentation: {len(tracked())} files looked at")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
