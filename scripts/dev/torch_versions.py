"""The releases of PyTorch that the source builds with: the pinned one of requirements.txt, and others by ./dev --torch."""

import re

from .common import ROOT, Failure

REQUIREMENTS = ROOT / "requirements.txt"
# These requirements have another version when torch does. torchvision says which torch it needs, and torch which triton.
OTHERS = {
    "2.8.0": {"torchvision": "0.23.0", "triton": "3.4.0"},
    "2.15.0": {"torchvision": "0.29.2", "triton": "3.9.0"},
}


def pinned_text() -> str:
    return REQUIREMENTS.read_text(encoding="utf-8")


def pinned() -> str:
    found = re.search(r"^torch==(.+)$", pinned_text(), re.MULTILINE)
    if not found:
        raise Failure(f"{REQUIREMENTS} has no line torch==VERSION")
    return found.group(1)


def full(version: str) -> str:
    """2.8.0 for 2.8 and 2.8.0; a Failure names what there is."""
    known = [pinned(), *OTHERS]
    for each in known:
        if version in (each, short(each)):
            return each
    raise Failure(f"torch {version} is not among the releases that the source is built with: " + ", ".join(sorted(known, key=numbers)))


def numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def short(version: str) -> str:
    """The release without its patch level, within which libtorch's libraries fit each other: 2.8 for 2.8.0."""
    return ".".join(version.split(".")[:2])


def local_label(version: str) -> str:
    """The local version of a wheel that is built for this release: pt28 for 2.8.0."""
    return "pt" + short(version).replace(".", "")


def requirements(version: str) -> str:
    """requirements.txt with this release of torch and the packages that go with it."""
    text = pinned_text()
    if version == pinned():
        return text
    for package, release in {"torch": version, **OTHERS[version]}.items():
        text, found = re.subn(rf"^{package}==.*$", f"{package}=={release}", text, flags=re.MULTILINE)
        assert found == 1, package
    return text
