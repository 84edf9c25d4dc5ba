"""The files of PyPI that ./dev installs: locks/ has one line for each, with its hash and its licence. People edit requirements*.txt, and
./dev lock writes locks/ from it. pip refuses a file whose hash is another, and a package that is not in the lock."""

import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from . import licences, torch_versions
from .common import ROOT, Failure, run, say

PYTHON = (3, 11)  # the interpreter that the locked files are for
HOST = "files.pythonhosted.org"  # of PyPI's files
MODELS = "models"
# Added to the environment of requirements.txt: "models" always, "peers" where somebody compares with them, "checks" for ./dev check, and
# "browser" for the Python tests, of which one opens a report's page. A lock has what they need in turn, too.
ADDED = (MODELS, "peers", "checks", "browser")
# Environments of their own, which borrow the rest from that of requirements.txt; and pip, which writes the locks.
APART = ("integrations", "docs", "pip")
PIN = re.compile(r"([A-Za-z0-9][\w.-]*)==([\w.+!-]+)")
LOCKED = re.compile(PIN.pattern + r"((?: --hash=sha256:[0-9a-f]{64})+)  # (\S.*)")


@dataclass
class Lock:
    """A lock, the requirements that it is made from, and how messages call them."""

    path: Path
    source: str  # requirements.txt, or another one's name
    text: str  # the requirements

    def place(self, root: Path) -> str:
        return str(self.path.relative_to(root))


def normal(name: str) -> str:
    """One spelling for all that PyPI takes to be the same name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def base_lock(torch: str, root: Path = ROOT) -> Lock:
    """The lock of requirements.txt with this release of torch, as in 2.8.0."""
    return Lock(root / "locks" / f"torch-{torch_versions.short(torch)}.txt", "requirements.txt", torch_versions.requirements(torch))


def named_lock(name: str, root: Path = ROOT) -> Lock:
    source = root / f"requirements-{name}.txt"
    return Lock(root / "locks" / f"{name}.txt", source.name, source.read_text(encoding="utf-8"))


def all_locks(root: Path = ROOT) -> list[Lock]:
    torches = [torch_versions.pinned(), *torch_versions.OTHERS]
    return [*(base_lock(each, root) for each in torches), *(named_lock(each, root) for each in (*ADDED, *APART))]


def lines_of(text: str):
    """Numbers and contents of the lines that are neither empty nor comments."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            yield number, line


def pins(text: str) -> dict[str, str]:
    """Versions by normal name, of requirements or of a lock."""
    return {normal(found.group(1)): found.group(2) for _, line in lines_of(text) if (found := PIN.match(line))}


def problems_of(lock: Lock, root: Path) -> list[str]:
    """All that is wrong with one lock, with the places."""
    found = [f"{lock.source}:{number}: expected NAME==VERSION, got {line!r}"
             for number, line in lines_of(lock.text) if not PIN.fullmatch(line)]
    if not lock.path.is_file():
        return [*found, f"{lock.place(root)} is missing: run ./dev lock"]
    text = lock.path.read_text(encoding="utf-8")
    for number, line in lines_of(text):
        locked = LOCKED.fullmatch(line)
        if not locked:
            found.append(f"{lock.place(root)}:{number}: expected NAME==VERSION --hash=sha256:HASH  # LICENCE, got {line!r}: run ./dev lock")
        elif problem := licences.problem(normal(locked.group(1)), locked.group(4)):
            found.append(f"{lock.place(root)}:{number}: {problem}")
    locked_pins = pins(text)
    for name, version in pins(lock.text).items():
        if locked_pins.get(name) != version:
            found.append(f"{lock.place(root)} has {name} {locked_pins.get(name, 'not at all')}, expected {version} of {lock.source}: run ./dev lock")
    return found


def problems(root: Path = ROOT) -> list[str]:
    locks = all_locks(root)
    known = {lock.path.name for lock in locks}
    stale = [f"locks/{path.name} belongs to no requirements: remove it" for path in sorted((root / "locks").glob("*")) if path.name not in known]
    sources = {lock.source for lock in locks}
    unlocked = [f"{path.name} has no lock: name it in scripts/dev/locks.py" for path in sorted(root.glob("requirements*.txt"))
                if path.name not in sources]
    return [*unlocked, *stale, *(problem for lock in locks for problem in problems_of(lock, root))]


def check() -> None:
    found = problems()
    if found:
        raise Failure("requirements and locks do not fit:\n  " + "\n  ".join(found))
    say(f"locks: {len(all_locks())} files")


def checked(lock: Lock) -> Path:
    """The lock's path, if it can be installed; a Failure says what is wrong."""
    if sys.version_info[:2] != PYTHON:
        own, expected = (".".join(map(str, each)) for each in (sys.version_info[:2], PYTHON))
        raise Failure(f"locks/ has files for Python {expected}, got {own}: run ./dev with python{expected}")
    found = problems_of(lock, ROOT)
    if found:
        raise Failure("\n  ".join(found))
    return lock.path


def resolved(pip, requirements: Path, *options) -> list[dict]:
    """The files that pip would install for requirements, as its report describes them. Nothing is installed."""
    command = [*pip, "install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-", *options, "--requirement", requirements]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"pip finds no files for {requirements.name}:\n{done.stderr}")
    return json.loads(done.stdout)["install"]


def locked_line(entry: dict) -> str:
    """A line of a lock, from an entry of pip's report."""
    metadata, download = entry["metadata"], entry["download_info"]
    host = urlsplit(download["url"]).hostname
    if host != HOST:
        raise Failure(f"expected {metadata['name']} from {HOST}, got {download['url']}: unset pip's settings of other places")
    return (f"{metadata['name']}=={metadata['version']} --hash=sha256:{download['archive_info']['hashes']['sha256']}"
            f"  # {licences.of(normal(metadata['name']), metadata)}")


def write(lock: Lock, pip, *options, constraints: dict[str, str], present=frozenset()) -> None:
    """Writes a lock. `constraints`: versions of packages that pip may add. `present`: names that the environment has already."""
    with tempfile.TemporaryDirectory() as scratch:
        requirements, limits = Path(scratch, lock.source), Path(scratch, "constraints.txt")
        requirements.write_text(lock.text, encoding="utf-8")
        wanted = pins(lock.text)
        limits.write_text("".join(f"{name}=={version}\n" for name, version in constraints.items() if name not in wanted), encoding="utf-8")
        entries = resolved(pip, requirements, *options, "--constraint", limits)
    own = [entry for entry in entries if (name := normal(entry["metadata"]["name"])) in wanted or name not in present]
    lines = sorted((locked_line(entry) for entry in own), key=str.lower)
    torch = wanted.get("torch")
    header = (f"# Written by ./dev lock from {lock.source}{f' with torch {torch}' if torch else ''}: the files that pip takes on x86-64 Linux with\n"
              f"# Python {'.'.join(map(str, PYTHON))}, with their hashes and licences.\n")
    lock.path.parent.mkdir(exist_ok=True)
    lock.path.write_text(header + "\n".join(lines) + "\n", encoding="utf-8")
    say(f"{lock.place(ROOT)}: {len(lines)} files")


def write_all() -> None:
    """Writes every lock anew from PyPI, with the pip of requirements-pip.txt in a folder of its own."""
    if sys.version_info[:2] != PYTHON:
        raise Failure(f"locks are written with Python {'.'.join(map(str, PYTHON))}, got {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory() as scratch:
        run([sys.executable, "-m", "venv", scratch], "making an environment for pip")
        pip = [Path(scratch, "bin", "python"), "-m", "pip", "--disable-pip-version-check"]
        run([*pip, "install", "--quiet", "--requirement", ROOT / "requirements-pip.txt"], "pip install")
        models = pins(named_lock(MODELS).text)
        for torch in [torch_versions.pinned(), *torch_versions.OTHERS]:
            write(base_lock(torch), pip, constraints=models)
        there = pins(base_lock(torch_versions.pinned()).path.read_text(encoding="utf-8"))
        for name in ADDED:
            lock = named_lock(name)
            write(lock, pip, constraints=there, present=there.keys())
            if name == MODELS:
                there |= pins(lock.path.read_text(encoding="utf-8"))
        for name in APART:
            write(named_lock(name), pip, "--no-deps", constraints={})
