"""What leaves the build tree: cmake --install, and the wheel, which is python/ with the built libraries inside."""

import re
import shutil
import subprocess

from . import building
from .common import ROOT, Failure, python, run, say

PACKAGE = "torchtrt"
ALIASES = ["torch_tensorrt", "trtorch"]  # found by _torchtrt_names.py where no other package has the name
LIBRARIES = [
    "libtorchtrt_engine.so", "libtorchtrt_cuda.so", "libtorchtrt_network.so", "libtorchtrt_runtime.so", "libtorchtrt.so", "libtorchtrt_vision.so"]


def install(preset: str, prefix: str) -> None:
    building.build(preset)
    run(
        ["cmake", "--install", building.build_folder(preset), "--prefix", prefix],
        "cmake --install",
        stdout=subprocess.DEVNULL,
    )
    say(f"installed in {prefix}")


def version() -> str:
    header = (ROOT / "include/torchtrt/version.h").read_text(encoding="utf-8")
    return re.search(r'TORCHTRT_VERSION_STRING "([^"]+)"', header).group(1)


def soname(library) -> str:
    command = ["patchelf", "--print-soname", library]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def vendored(library):
    """The libraries of others that one of ours needs and that no system or torch brings along."""
    listing = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        name, _, place = line.strip().partition(" => ")
        if name.startswith(("libdnnl.so", "libhwy.so")):
            yield place.split(" (")[0]


def plain_names(built):
    """Arguments that make a binary ask for our libraries without version, since wheels have no links."""
    for name in LIBRARIES:
        yield from ("--replace-needed", soname(built / "lib" / name), name)


def stage(preset: str, folder) -> None:
    """Fills a folder with the package, its extension, its libraries and torchtrtc, with relative run paths."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "python", folder, ignore=shutil.ignore_patterns("__pycache__", "bindings", "lib", "*.so"))
    for name in ("LICENSE", "NOTICE", "THIRD_PARTY.md"):
        shutil.copy(ROOT / name, folder)
    (folder / "VERSION").write_text(version() + "\n", encoding="utf-8")
    built = building.build_folder(preset)
    package = folder / PACKAGE
    (package / "_aliases").mkdir()
    for name in ALIASES:
        (folder / name).rename(package / "_aliases" / name)
    libraries = package / "lib"
    libraries.mkdir()
    (package / "bin").mkdir()
    placed = [shutil.copy(built / "lib" / name, libraries / name) for name in LIBRARIES]
    for library in sorted(set(vendored(built / "lib" / LIBRARIES[0]))):
        placed.append(shutil.copy(library, libraries / soname(library)))
    for library in placed:
        run(["patchelf", "--set-rpath", "$ORIGIN:$ORIGIN/../../torch/lib", library], "patchelf")
    for extension in (built / "python" / PACKAGE).glob("_torchtrt*.so"):
        placed.append(shutil.copy(extension, package / extension.name))
        run(["patchelf", "--set-rpath", "$ORIGIN/lib:$ORIGIN/../torch/lib", placed[-1]], "patchelf")
    placed.append(shutil.copy(built / "bin" / "torchtrtc", package / "bin"))
    run(["patchelf", "--set-rpath", "$ORIGIN/../lib:$ORIGIN/../../torch/lib", placed[-1]], "patchelf")
    for binary in placed:
        run(["patchelf", *plain_names(built), binary], "patchelf")
        run(["strip", "--strip-unneeded", binary], "strip")
    for name in LIBRARIES:
        run(["patchelf", "--set-soname", name, libraries / name], "patchelf")


def make_wheel(preset: str) -> None:
    building.build(preset, ["product"])
    folder = building.build_folder(preset) / "wheel"
    say("collecting the wheel's files")
    stage(preset, folder)
    pip = [
        python(),
        "-m",
        "pip",
        "--disable-pip-version-check",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
    ]
    run([*pip, "--wheel-dir", ROOT / "dist", folder], "pip wheel")
    wheels = sorted((ROOT / "dist").glob(f"{PACKAGE}-*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        raise Failure("pip made no wheel in dist/")
    say(f"made {wheels[-1].relative_to(ROOT)} ({wheels[-1].stat().st_size / 1e6:.1f} MB)")
