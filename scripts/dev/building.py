"""Configures and builds a preset with CMake and Ninja, one ./dev at a time per build folder."""

import os
import subprocess

from . import torch_versions
from .common import CACHE, ROOT, VENV_LINK, Environment, Failure, locked, run, say

PRESETS = ["release", "dev", "asan", "tsan"]


def build_folder(preset: str):
    """build/release, and build/release-torch2.8 for another torch than the pinned one."""
    suffix = f"-torch{torch_versions.short(Environment.torch)}" if Environment.torch else ""
    return ROOT / "build" / (preset + suffix)


def configuration(preset: str) -> list[str]:
    """The configure command. It gets the environment's real path, which the compiler cache finds in every clone. oneDNN is always that of
    the pinned environment, so that files that do not include libtorch are in the cache whatever torch is built with."""
    ccache = os.environ.get("CCACHE_DIR") or CACHE / "ccache"
    settings = {"TORCHTRT_VENV": Environment.folder.resolve(), "TORCHTRT_CCACHE_DIR": ccache, "TORCHTRT_WERROR": "ON"}
    if Environment.torch:
        settings["TORCHTRT_ONEDNN_ROOT"] = VENV_LINK.resolve()
    return ["cmake", "--preset", preset, "-B", str(build_folder(preset)), *(f"-D{name}={value}" for name, value in settings.items())]


def configure(preset: str) -> None:
    folder = build_folder(preset)
    command = configuration(preset)
    stamp = folder / ".configured"
    if (folder / "build.ninja").exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == "\n".join(command):
        return
    say(f"configuring {folder.relative_to(ROOT)}")
    stamp.unlink(missing_ok=True)
    run([*command, "--log-level=WARNING"], "cmake", cwd=ROOT, stdout=subprocess.DEVNULL)
    stamp.write_text("\n".join(command), encoding="utf-8")


def build(preset: str, targets=()) -> None:
    folder = build_folder(preset)
    with locked(folder / ".lock"):
        configure(preset)
        say("building " + (" ".join(targets) if targets else "everything") + f" in {folder.relative_to(ROOT)}")
        result = subprocess.run(["ninja", "-C", folder, *targets], cwd=ROOT, check=False)
    if result.returncode != 0:
        raise Failure("the build failed; its first error is above")
