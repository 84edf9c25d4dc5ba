"""Configures and builds a preset with CMake and Ninja, one ./dev at a time per build folder."""

import os
import subprocess

from .common import CACHE, ROOT, VENV_LINK, Failure, locked, run, say

PRESETS = ["release", "dev", "asan", "tsan"]


def build_folder(preset: str):
    return ROOT / "build" / preset


def configuration(preset: str) -> list[str]:
    """The configure command. It gets the environment's real path, which the compiler cache finds in every clone."""
    ccache = os.environ.get("CCACHE_DIR") or CACHE / "ccache"
    settings = {"TORCHTRT_VENV": VENV_LINK.resolve(), "TORCHTRT_CCACHE_DIR": ccache, "TORCHTRT_WERROR": "ON"}
    return ["cmake", "--preset", preset, *(f"-D{name}={value}" for name, value in settings.items())]


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
