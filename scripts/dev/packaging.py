"""Makes what leaves the build tree: cmake --install, and two wheels. One is python/ with the built libraries inside; the other only runs
modules and is for every Python. Their local version and their requirements name the torch that they were built for."""

import shutil
import subprocess
from pathlib import Path

from . import building, manylinux, torch_versions
from .common import ROOT, python, run, say

PACKAGE = "torchtrt"
ALIASES = ["torch_tensorrt", "trtorch"]  # found by _torchtrt_names.py where no other package has the name
LIBRARIES = [
    "libtorchtrt_engine.so", "libtorchtrt_cuda.so", "libtorchtrt_network.so", "libtorchtrt_runtime.so", "libtorchtrt.so", "libtorchtrt_vision.so"]

RUNTIME_LIBRARIES = ["libtorchtrt_engine.so", "libtorchtrt_cuda.so", "libtorchtrt_runtime.so", "libtorchtrt_vision.so"]
RUNTIME_MODULES = ["_errors.py", "_files.py", "_libraries.py", "_torch_fit.py", "runtime.py"]


def install(preset: str, prefix: str) -> None:
    building.build(preset)
    run(
        ["cmake", "--install", building.build_folder(preset), "--prefix", prefix],
        "cmake --install",
        stdout=subprocess.DEVNULL,
    )
    say(f"installed in {prefix}")


def built_versions(built) -> list[str]:
    """The version of torchtrt and that of the torch that it was built for."""
    return (built / "lib" / "versions").read_text(encoding="utf-8").split()


def soname(library) -> str:
    command = ["patchelf", "--print-soname", library]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def vendored(library):
    """Returns the foreign libraries that one of torchtrt's needs and that no system or torch brings along."""
    listing = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        name, _, place = line.strip().partition(" => ")
        if name.startswith(("libdnnl.so", "libhwy.so")):
            yield place.split(" (")[0]


def copied(file, folder) -> Path:
    return Path(shutil.copy(file, folder))


def place_libraries(built, folder, names, to_torch: str) -> list[Path]:
    """Copies torchtrt's libraries, and those that they bring along, into a folder whose path to that of torch is given."""
    folder.mkdir(parents=True)
    shutil.copy(built / "lib" / "versions", folder)
    placed = [copied(built / "lib" / name, folder / name) for name in names]
    for library in sorted(set(vendored(built / "lib" / names[0]))):
        placed.append(copied(library, folder / soname(library)))
    for library in placed:
        set_run_path(library, f"$ORIGIN:$ORIGIN/{to_torch}/lib")
    return placed


def set_run_path(binary, path: str) -> None:
    run(["patchelf", "--set-rpath", path, binary], "patchelf")


def rename(built, binaries) -> None:
    """Makes binaries ask for our libraries without version, since wheels have no links, and strips them."""
    names = [part for name in LIBRARIES for part in ("--replace-needed", soname(built / "lib" / name), name)]
    for binary in binaries:
        run(["patchelf", *names, binary], "patchelf")
        run(["strip", "--strip-unneeded", binary], "strip")
        if binary.name in LIBRARIES:
            run(["patchelf", "--set-soname", binary.name, binary], "patchelf")


def write_project(built, folder) -> None:
    """Adds what pyproject.toml names and no source has: licences, the version, and the torch that the libraries need."""
    for name in ("LICENSE", "NOTICE", "THIRD_PARTY.md"):
        shutil.copy(ROOT / name, folder)
    own, torch = built_versions(built)
    (folder / "VERSION").write_text(f"{own}+{torch_versions.local_label(torch)}\n", encoding="utf-8")
    (folder / "REQUIREMENTS").write_text(f"torch=={torch_versions.short(torch)}.*\n", encoding="utf-8")


def stage(built, folder) -> list[Path]:
    """Fills a folder with the package, its extension, its libraries and torchtrtc, with relative run paths. Returns the binaries."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "python", folder, ignore=shutil.ignore_patterns("__pycache__", "bindings", "runtime_wheel", "lib", "*.so"))
    write_project(built, folder)
    package = folder / PACKAGE
    (package / "_aliases").mkdir()
    for name in ALIASES:
        (folder / name).rename(package / "_aliases" / name)
    placed = place_libraries(built, package / "lib", LIBRARIES, "../../torch")
    for extension in (built / "python" / PACKAGE).glob("_torchtrt*.so"):
        placed.append(copied(extension, package / extension.name))
        set_run_path(placed[-1], "$ORIGIN/lib:$ORIGIN/../torch/lib")
    (package / "bin").mkdir()
    placed.append(copied(built / "bin" / "torchtrtc", package / "bin"))
    set_run_path(placed[-1], "$ORIGIN/../lib:$ORIGIN/../../torch/lib")
    rename(built, placed)
    return placed


def stage_runtime(built, folder) -> list[Path]:
    """The same for the wheel that runs modules: python/runtime_wheel, with what it shares with the package, and three libraries fewer."""
    shutil.rmtree(folder, ignore_errors=True)
    source = ROOT / "python" / "runtime_wheel"
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__", "package"))
    write_project(built, folder)
    package = folder / "torchtrt_runtime" / PACKAGE
    shutil.copytree(source / "package", package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in RUNTIME_MODULES:
        shutil.copy(ROOT / "python" / PACKAGE / name, package)
    shutil.copytree(ROOT / "python" / PACKAGE / "integrations", package / "integrations", ignore=shutil.ignore_patterns("__pycache__"))
    placed = place_libraries(built, package / "lib", RUNTIME_LIBRARIES, "../../../torch")
    rename(built, placed)
    return placed


def make_wheel(preset: str) -> list[Path]:
    """Makes both wheels in dist/; returns their paths."""
    building.build(preset, ["product"])
    built = building.build_folder(preset)
    say("collecting the wheels' files")
    return [pack(built / "wheel", stage(built, built / "wheel")),
            pack(built / "runtime_wheel", stage_runtime(built, built / "runtime_wheel"), "--python-tag", "py3", "--abi-tag", "none")]


def pack(folder, binaries, *tags) -> Path:
    """Makes a wheel of a staged folder in dist/, tagged with the oldest systems that its binaries run on, and with other tags as given."""
    platform = manylinux.platform_tag(binaries)
    untagged = folder.with_suffix(".untagged")
    shutil.rmtree(untagged, ignore_errors=True)
    pip = [python(), "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    run([*pip, "--wheel-dir", untagged, folder], "pip wheel")
    (made,) = untagged.glob("*.whl")
    command = [python(), "-m", "wheel", "tags", "--platform-tag", platform, *tags, made]
    name = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1]
    (ROOT / "dist").mkdir(exist_ok=True)
    wheel = ROOT / "dist" / name
    shutil.move(untagged / name, wheel)
    say(f"made {wheel.relative_to(ROOT)} ({wheel.stat().st_size / 1e6:.1f} MB)")
    return wheel
