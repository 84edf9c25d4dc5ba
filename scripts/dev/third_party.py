"""The tables of THIRD_PARTY.md: what wheels hold of others, and what builds and tests them. ./dev check refuses what has no row or a licence
that is not allowed; the list of parts in a wheel (sbom) is made from the first table."""

import re
from dataclasses import dataclass
from pathlib import Path

from . import licences, locks, machine, torch_versions
from .common import ROOT, Failure, say

PAGE = "THIRD_PARTY.md"
VENDORED = Path("src/compiler/reports/page/assets/vendored")
NAMED = re.compile(r"`([^`]+)`")
VERSION_OF_FILE = re.compile(r"^// \S+ v([\d.]+) ")  # at the head of D3's files
WHEELS = {"both": ("torchtrt", "torchtrt-runtime"), "torchtrt": ("torchtrt",), "no": ()}


@dataclass
class Part:
    """A row of the first table."""

    line: int
    name: str
    address: str
    version: str
    licence: str
    origin: str  # "PyPI", "Debian" or "GitHub"
    packages: list[str]  # their names there
    form: str
    wheels: str

    def files(self) -> list[str]:
        """Names of files that wheels have, or that are compiled in as they are."""
        return NAMED.findall(self.form)


def rows(text: str, heading: str):
    """Line numbers and cells of the table that begins with a cell."""
    is_inside = False
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith(f"| {heading} |"):
            is_inside = True
        elif not line.startswith("|"):
            is_inside = False
        elif is_inside and not line.startswith("|---"):
            yield number, cells


def parts(text: str) -> list[Part]:
    """A Failure names a row that lacks a cell."""
    found = []
    for number, cells in rows(text, "software"):
        link = re.fullmatch(r"\[(.+)\]\((.+)\)", cells[0])
        if len(cells) != 7 or not link or not NAMED.search(cells[3]) or cells[6] not in WHEELS:
            raise Failure(f"{PAGE}:{number}: expected [name](address), version, licence, origin with `package`, use, form, and one of "
                          f"{', '.join(WHEELS)}, got {' | '.join(cells)}")
        found.append(Part(number, link.group(1), link.group(2), cells[1], cells[2], cells[3].split()[0], NAMED.findall(cells[3]), cells[5], cells[6]))
    return found


def tools(text: str) -> dict[str, tuple[int, str]]:
    """Line and licence by package, of the second table."""
    return {cells[0].strip("`"): (number, cells[1]) for number, cells in rows(text, "package")}


def debian_packages() -> list[str]:
    return sorted({*machine.PACKAGES, *machine.BROWSER_PACKAGES, *machine.INTEGRATIONS_PACKAGES, *machine.DOCS_PACKAGES, *machine.TIDY_PACKAGES,
                   *machine.FUZZ_PACKAGES, *machine.PYTHON_PACKAGES})


def refusal(place: str, licence: str, allowed: set[str]) -> list[str]:
    unknown = sorted(set(licences.words(licence)) - allowed)
    return [f"{place}: the licence {' '.join(unknown)} is not on the list of scripts/dev/licences.py"] if unknown or not licence else []


def problems(root: Path = ROOT) -> list[str]:
    text = (root / PAGE).read_text(encoding="utf-8")
    all_parts, all_tools = parts(text), tools(text)
    found = []
    for part in all_parts:
        found += refusal(f"{PAGE}:{part.line}", part.licence, licences.DISTRIBUTED if WHEELS[part.wheels] else licences.TOOLS)
    for package, (line, licence) in all_tools.items():
        found += refusal(f"{PAGE}:{line}: {package}", licence, licences.TOOLS)
    named = {package for part in all_parts if part.origin == "Debian" for package in part.packages} | all_tools.keys()
    found += [f"scripts/dev/machine.py installs {package}, which {PAGE} does not name" for package in debian_packages() if package not in named]
    locked = locks.pins(torch_versions.pinned_text())
    found += [f"{PAGE}:{part.line}: requirements.txt has no {package}" for part in all_parts if part.origin == "PyPI"
              for package in part.packages if locks.normal(package) not in locked]
    return found + vendored_problems(root, all_parts)


def vendored_problems(root: Path, all_parts: list[Part]) -> list[str]:
    """Files of others among the sources have a row with their version."""
    versions = {name: (part.line, part.version) for part in all_parts for name in part.files()}
    found = []
    for file in sorted((root / VENDORED).glob("*.js")):
        line, version = versions.get(file.name, (0, ""))
        own = VERSION_OF_FILE.match(file.read_text(encoding="utf-8"))
        if not line:
            found.append(f"{VENDORED / file.name} is in no row of {PAGE}")
        elif own and own.group(1) != version:
            found.append(f"{PAGE}:{line}: expected version {own.group(1)} of {file.name}, got {version}")
    return found


def check() -> None:
    found = problems()
    if found:
        raise Failure("third parties:\n  " + "\n  ".join(found))
    say(f"third parties: {len(parts((ROOT / PAGE).read_text(encoding='utf-8')))} rows")
