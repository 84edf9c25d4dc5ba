"""Makes the machine ready: Debian packages and the virtual environment. Does nothing, quickly, where all is there."""

import hashlib
import os
import shutil
import subprocess
import sys

from .common import CACHE, ROOT, VENV_LINK, Failure, locked, run, run_logged, say

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
# What the build and the demo need, which keys the environment, and the models that are added to it.
REQUIREMENTS = ROOT / "requirements.txt"
MODELS = ROOT / "requirements-models.txt"
PEERS = ROOT / "requirements-peers.txt"  # only where somebody compares with them
CHECKS = ROOT / "requirements-checks.txt"  # only for ./dev check
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


def venv_folder():
    """The environment's place, keyed by requirements and interpreter, outside the checkout: clones share it."""
    key = hashlib.sha256(REQUIREMENTS.read_bytes())
    key.update(f"{sys.version_info[:2]} {sys.base_prefix}".encode())
    return CACHE / f"venv-{key.hexdigest()[:16]}"


def make_venv() -> None:
    folder = venv_folder()
    complete = folder / ".complete"
    if not complete.exists():
        with locked(folder.with_suffix(".lock")):
            if not complete.exists():
                install_venv(folder)
                complete.touch()
    add_requirements(folder, MODELS, "155 MB")
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
                pip_install(folder, "--requirement", file, "--constraint", REQUIREMENTS)
                marker.write_text(wanted, encoding="utf-8")


def install_venv(folder) -> None:
    say(f"installing requirements.txt into {folder} (about 2 GB to download, 5 GB on disk)")
    shutil.rmtree(folder, ignore_errors=True)
    base = getattr(sys, "_base_executable", sys.executable)
    run([base, "-m", "venv", folder], "making the virtual environment")
    pip_install(folder, "--requirement", REQUIREMENTS)


def pip_install(folder, *what) -> None:
    pip = [folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install", "--progress-bar", "off"]
    run_logged([*pip, *what], "pip install", CACHE / "pip-install.log")


def make_ready() -> None:
    install_packages(PACKAGES + (PYTHON_PACKAGES if sys.base_prefix == "/usr" else []))
    make_venv()


def add_checks() -> None:
    add_requirements(venv_folder(), CHECKS, "12 MB")


def add_peers() -> None:
    add_requirements(venv_folder(), PEERS, "100 MB")
