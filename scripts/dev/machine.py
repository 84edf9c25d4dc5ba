"""Makes the machine ready: Debian packages and the virtual environment. Does nothing, quickly, where all is there."""

import hashlib
import os
import shutil
import subprocess
import sys

from . import locks, torch_versions
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
BROWSER_PACKAGES = ["chromium"]
INTEGRATIONS_PACKAGES = ["default-jre-headless"]  # Spark runs in Java
DOCS_PACKAGES = ["doxygen"]
TIDY_PACKAGES = ["clang-tidy"]
FUZZ_PACKAGES = ["clang", "libclang-rt-14-dev", "llvm"]  # Debian's clang is 14; llvm has the names of functions for reports
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
    """The environment's place. The compiler cache knows files by it, so it follows the versions of requirements.txt, not their hashes."""
    return keyed_folder("venv", torch_versions.requirements(torch))


def make_venv(torch: str):
    folder = venv_folder(torch)
    complete = folder / ".complete"
    if not complete.exists():
        with locked(folder.with_suffix(".lock")):
            if not complete.exists():
                start_venv(folder)
                complete.touch()
    add_lock(folder, locks.base_lock(torch), "2 GB, 5 GB on disk")
    add_lock(folder, locks.named_lock("models"), "155 MB")
    return folder


def link_venv(folder) -> None:
    if not VENV_LINK.is_symlink() or os.readlink(VENV_LINK) != str(folder):
        VENV_LINK.unlink(missing_ok=True)
        VENV_LINK.symlink_to(folder)


def add_lock(folder, lock: locks.Lock, size: str) -> None:
    """Installs the files of a lock, unless that was done since it last changed."""
    marker = folder / f".{lock.path.stem}"

    def are_there() -> bool:
        return marker.exists() and marker.read_text(encoding="utf-8") == wanted

    wanted = hashlib.sha256(locks.checked(lock).read_bytes()).hexdigest()
    if not are_there():
        with locked(folder.with_suffix(".lock")):
            if not are_there():
                say(f"installing {lock.path.relative_to(ROOT)} into {folder} (about {size} to download)")
                pip_install(folder, lock)
                marker.write_text(wanted, encoding="utf-8")


def start_venv(folder) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    base = getattr(sys, "_base_executable", sys.executable)
    run([base, "-m", "venv", folder], "making the virtual environment")


def site_packages(folder):
    (found,) = (folder / "lib").glob("python3*/site-packages")
    return found


def make_beside(name: str, size: str):
    """An environment that finds torch, and all else that it does not have, in the environment in use."""
    lender = Environment.folder.resolve()
    lock = locks.named_lock(name)
    folder = keyed_folder(name, f"{locks.checked(lock).read_text(encoding='utf-8')} {lender}")
    complete = folder / ".complete"
    if not complete.exists():
        with locked(folder.with_suffix(".lock")):
            if not complete.exists():
                say(f"installing {lock.path.relative_to(ROOT)} into {folder} ({size})")
                start_venv(folder)
                (site_packages(folder) / "lent.pth").write_text(f"{site_packages(lender)}\n", encoding="utf-8")
                pip_install(folder, lock)
                complete.touch()
    return folder


def make_integrations():
    """The environment of Ray, Spark, Beam and Triton: they want older numpy and protobuf than the rest."""
    if not shutil.which("java"):
        install_packages(INTEGRATIONS_PACKAGES)
    return make_beside("integrations", "about 800 MB to download, 1.6 GB on disk")


def make_docs():
    """The environment of Sphinx, with Doxygen beside it. No version of Sphinx and its extensions can disturb the rest."""
    install_packages(DOCS_PACKAGES)
    return make_beside("docs", "about 30 MB to download, 90 MB on disk")


def pip_install(folder, lock: locks.Lock) -> None:
    """Installs what a lock names and nothing else: pip refuses other files. What comes as source is built with the tools of the environment,
    because pip would fetch others without looking at hashes."""
    pip = [folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install", "--progress-bar", "off"]
    options = ["--require-hashes", "--no-deps", "--no-build-isolation", "--requirement", lock.path]
    run_logged([*pip, *options], "pip install", CACHE / "pip-install.log")


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
    add_lock(Environment.folder.resolve(), locks.named_lock("checks"), "12 MB")


def add_peers() -> None:
    add_lock(Environment.folder.resolve(), locks.named_lock("peers"), "100 MB")


def add_browser() -> None:
    install_packages(BROWSER_PACKAGES)
    add_lock(Environment.folder.resolve(), locks.named_lock("browser"), "47 MB")
