"""Makes the machine ready: Debian packages and the virtual environment. Does nothing, quickly, where all is there."""

import hashlib
import os
import shutil
import subprocess
import sys

from . import torch_versions
from .common import CACHE, ROOT, VENV_LINK, Environment, Failure, locked, run, run_logged, say

PACKAGES = [
    "alsa-utils",  # carries recorded speech: the signal on which tests run silero-vad
    "ca-certificates",
    "ccache",
    "clang-format",
    "cmake",
    "flatbuffers-compiler",
    "g++",
    "git",
    "libcli11-dev",
    "libflatbuffers-dev",
    "libgmock-dev",
    "libgtest-dev",
    "libhwy-dev",
    "ninja-build",
    "patchelf",
]
# The build and the demo need requirements.txt, which keys the environment; these are added to it.
MODELS = ROOT / "requirements-models.txt"
PEERS = ROOT / "requirements-peers.txt"  # only where somebody compares with them
CHECKS = ROOT / "requirements-checks.txt"  # only for ./dev check
BROWSER = ROOT / "requirements-browser.txt"  # only for the Python tests, of which one opens a report's page
BROWSER_PACKAGES = ["chromium"]
# Ray, Spark, Beam and Triton: they want older numpy and protobuf than the rest, so they have an environment of their own.
INTEGRATIONS = ROOT / "requirements-integrations.txt"
INTEGRATIONS_PACKAGES = ["default-jre-headless"]  # Spark runs in Java
# Sphinx and its extensions: an environment of their own, too, so that no version of them can disturb the rest.
DOCS = ROOT / "requirements-docs.txt"
DOCS_PACKAGES = ["doxygen"]
# Needed where Python is Debian's own; one built by hand brings both.
PYTHON_PACKAGES = ["python3-dev", "python3-venv"]


def missing_packages(wanted) -> list[str]:
    query = ["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\n", *wanted]
    answer = subprocess.run(query, capture_output=True, text=True, check=False).stdout
    installed = {line.split()[0] for line in answer.splitlines() if line.endswith(" installed")}
    return [package for package in wanted if package not in installed]


def install_packages(wanted) -> None:
    if not shutil.which("dpkg-query"):
        say("no dpkg-query here: taking it that these are installed: " + " ".join(wanted))
        return
    missing = missing_packages(wanted)
    if not missing:
        return
    say("installing Debian packages: " + " ".join(missing))
    prefix = []
    if os.geteuid() != 0:
        if not shutil.which("sudo"):
            raise Failure(
                "these packages are missing and sudo is not here; as root run: apt-get install " + " ".join(missing)
            )
        prefix = ["sudo"]
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-o", "DPkg::Lock::Timeout=300", "-qq"]
    run_logged([*apt, "update"], "apt-get update", CACHE / "apt-update.log")
    run_logged(
        [*apt, "install", "--yes", "--no-install-recommends", *missing], "apt-get install", CACHE / "apt-install.log"
    )


def keyed_folder(name: str, requirements: str):
    """An environment's place, keyed by requirements and interpreter, outside the checkout: clones share it."""
    key = hashlib.sha256(requirements.encode())
    key.update(f"{sys.version_info[:2]} {sys.base_prefix}".encode())
    return CACHE / f"{name}-{key.hexdigest()[:16]}"


def venv_folder(torch: str):
    return keyed_folder("venv", torch_versions.requirements(torch))


def make_venv(torch: str):
    folder = venv_folder(torch)
    complete = folder / ".complete"
    if not complete.exists():
        with locked(folder.with_suffix(".lock")):
            if not complete.exists():
                install_venv(folder, torch)
                complete.touch()
    add_requirements(folder, MODELS, "155 MB")
    return folder


def link_venv(folder) -> None:
    if not VENV_LINK.is_symlink() or os.readlink(VENV_LINK) != str(folder):
        VENV_LINK.unlink(missing_ok=True)
        VENV_LINK.symlink_to(folder)


def add_requirements(folder, file, size) -> None:
    marker = folder / f".{file.stem.removeprefix('requirements-')}"
    wanted = hashlib.sha256(file.read_bytes()).hexdigest()

    def are_there() -> bool:
        return marker.exists() and marker.read_text(encoding="utf-8") == wanted

    if not are_there():
        with locked(folder.with_suffix(".lock")):
            if not are_there():
                say(f"installing {file.name} into {folder} (about {size} to download)")
                pip_install(folder, "--requirement", file, "--constraint", requirements_of(folder))
                marker.write_text(wanted, encoding="utf-8")


def requirements_of(folder):
    """The versions that an environment was made from: requirements.txt, or that for another torch."""
    own = folder / "requirements.txt"
    return own if own.exists() else torch_versions.REQUIREMENTS


def start_venv(folder) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    base = getattr(sys, "_base_executable", sys.executable)
    run([base, "-m", "venv", folder], "making the virtual environment")


def site_packages(folder):
    (found,) = (folder / "lib").glob("python3*/site-packages")
    return found


def make_beside(name: str, file, size: str):
    """An environment that finds torch, and all else that it does not have, in the environment in use."""
    lender = Environment.folder.resolve()
    folder = keyed_folder(name, f"{file.read_text(encoding='utf-8')} {lender}")
    complete = folder / ".complete"
    if not complete.exists():
        with locked(folder.with_suffix(".lock")):
            if not complete.exists():
                say(f"installing {file.name} into {folder} ({size})")
                start_venv(folder)
                pip_install(folder, "--no-deps", "--requirement", file)
                (site_packages(folder) / "lent.pth").write_text(f"{site_packages(lender)}\n", encoding="utf-8")
                complete.touch()
    return folder


def make_integrations():
    """The environment of Ray, Spark, Beam and Triton."""
    if not shutil.which("java"):
        install_packages(INTEGRATIONS_PACKAGES)
    return make_beside("integrations", INTEGRATIONS, "about 800 MB to download, 1.6 GB on disk")


def make_docs():
    """The environment of Sphinx, with Doxygen beside it."""
    install_packages(DOCS_PACKAGES)
    return make_beside("docs", DOCS, "about 30 MB to download, 90 MB on disk")


def install_venv(folder, torch: str) -> None:
    say(f"installing requirements.txt with torch {torch} into {folder} (about 2 GB to download, 5 GB on disk)")
    start_venv(folder)
    (folder / "requirements.txt").write_text(torch_versions.requirements(torch), encoding="utf-8")
    pip_install(folder, "--requirement", requirements_of(folder))


def pip_install(folder, *what) -> None:
    pip = [folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install", "--progress-bar", "off"]
    run_logged([*pip, *what], "pip install", CACHE / "pip-install.log")


def make_ready(torch: str = "") -> None:
    """`torch`: a release other than the pinned one to build with and run, as in 2.8 or 2.8.0."""
    install_packages(PACKAGES + (PYTHON_PACKAGES if sys.base_prefix == "/usr" else []))
    pinned = torch_versions.pinned()
    link_venv(make_venv(pinned))
    wanted = torch_versions.full(torch) if torch else pinned
    if wanted != pinned:
        Environment.torch = wanted
        Environment.folder = make_venv(wanted)


def add_checks() -> None:
    add_requirements(Environment.folder.resolve(), CHECKS, "12 MB")


def add_peers() -> None:
    add_requirements(Environment.folder.resolve(), PEERS, "100 MB")


def add_browser() -> None:
    install_packages(BROWSER_PACKAGES)
    add_requirements(Environment.folder.resolve(), BROWSER, "47 MB")
