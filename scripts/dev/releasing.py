"""./dev release: wheels for every torch, the notes of the release and checksums, in dist/VERSION. Publishes nothing: docs/releasing.md says
how that goes on."""

import hashlib
import re
import shutil
from pathlib import Path

from . import machine, packaging, torch_versions
from .common import ROOT, VENV_LINK, Environment, Failure, captured, say

VERSION_HEADER = Path("include/torchtrt/version.h")
CHANGELOG = Path("CHANGELOG.md")


def project_version(root: Path) -> str:
    found = re.search(r'TORCHTRT_VERSION_STRING "([^"]+)"', (root / VERSION_HEADER).read_text(encoding="utf-8"))
    if not found:
        raise Failure(f"{VERSION_HEADER} has no TORCHTRT_VERSION_STRING")
    return found.group(1)


def notes(root: Path, version: str) -> str:
    """The changelog's section for a version, without its heading; empty if there is none with a date."""
    heading = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$"
    found = re.search(heading + r"\n(.*?)(?=^## |\Z)", (root / CHANGELOG).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return found.group(1).strip() + "\n" if found else ""


def problems(root: Path, version: str) -> list[str]:
    """All that is in the way of a release, with the way out."""

    def git(*arguments: str) -> str:
        return captured(["git", "-C", str(root), *arguments]).stdout.strip()

    found = []
    changes = git("status", "--porcelain").splitlines()
    if changes:
        found.append(f"the tree has changes, in {changes[0].split()[-1]} first: commit them or put them away")
    if version != project_version(root):
        found.append(f"{VERSION_HEADER} has version {project_version(root)}, got {version}: raise it there, in all four places")
    if not notes(root, version):
        found.append(f'{CHANGELOG} has no text under "## [{version}] - YEAR-MONTH-DAY": give the heading [Unreleased] this form')
    if git("tag", "--list", f"v{version}"):
        found.append(f"the tag v{version} exists: a released version does not change, so take the next one")
    return found


def checksums(folder: Path, files) -> str:
    """Lines that `sha256sum --check` reads."""
    return "".join(f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in sorted(files))


def use_torch(version: str) -> None:
    """Makes the environment of a release of torch the one that is built with."""
    Environment.torch, Environment.folder = "", VENV_LINK
    machine.make_ready(version)


def release(version: str, torches, is_dry: bool) -> None:
    """Builds for the given releases of torch, by default for all. With `is_dry` it only says what it would do, and fails as it would."""
    known = sorted([torch_versions.pinned(), *torch_versions.OTHERS], key=torch_versions.numbers)
    wanted = [torch_versions.full(each) for each in torches] or known
    folder = ROOT / "dist" / version
    for each in wanted:
        say(f"{'would build' if is_dry else 'to build'}: the wheels torchtrt and torchtrt-runtime {version}+{torch_versions.local_label(each)}, for torch {each}")
    say(f"{'would write' if is_dry else 'to write'}: them, NOTES.md ({len(notes(ROOT, version).splitlines())} lines) and SHA256SUMS in {folder.relative_to(ROOT)}")
    found = problems(ROOT, version)
    if found:
        raise Failure(f"{version} cannot be released:\n  " + "\n  ".join(found))
    if is_dry:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for each in wanted:
        use_torch(each)
        for wheel in packaging.make_wheel("release"):
            shutil.move(wheel, folder / wheel.name)
    (folder / "NOTES.md").write_text(notes(ROOT, version), encoding="utf-8")
    names = sorted(file.name for file in folder.iterdir())
    (folder / "SHA256SUMS").write_text(checksums(folder, names), encoding="utf-8")
    say(f"{len(names)} files in {folder.relative_to(ROOT)}; docs/releasing.md says what comes next")
