"""Makes what leaves the build tree: cmake --install, and two wheels. One is python/ with the built libraries inside; the other only runs
modules and is for every Python. Their local version and their requirements name the torch that they were built for. Equal sources and tools give
equal bytes."""

import os
import shutil
import subprocess
from pathlib import Path

from . import building, manylinux, sbom, torch_versions
from .common import ROOT, captured, python, run, say

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
    return [pack(built / "wheel", stage(built, built / "wheel"), ROOT / "dist"),
            pack(built / "runtime_wheel", stage_runtime(built, built / "runtime_wheel"), ROOT / "dist", "--python-tag", "py3", "--abi-tag", "none")]


def source_epoch() -> int:
    """The time that files of a wheel have, in seconds: that of the commit. SOURCE_DATE_EPOCH says another; sources without git have 1980, which is
    the first that a zip file can tell."""
    stated = os.environ.get("SOURCE_DATE_EPOCH") or captured(["git", "log", "-1", "--format=%ct"]).stdout.strip()
    return max(int(stated or 0), 315532800)


def pack(folder, binaries, target: Path, *tags) -> Path:
    """Makes a wheel of a staged folder in another one, tagged with the oldest systems that its binaries run on, and with other tags as given. It lists
    its parts, and its bytes depend on nothing but the staged files and source_epoch()."""
    variables = {**os.environ, "SOURCE_DATE_EPOCH": str(source_epoch())}
    platform = manylinux.platform_tag(binaries)
    scratch = folder.with_suffix(".untagged")
    shutil.rmtree(scratch, ignore_errors=True)
    pip = [python(), "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    run([*pip, "--wheel-dir", scratch, folder], "pip wheel", env=variables)
    (made,) = scratch.glob("*.whl")
    wheel_tool("tags", "--platform-tag", platform, *tags, "--remove", made)
    (tagged,) = scratch.glob("*.whl")
    wheel_tool("unpack", "--dest", scratch / "files", tagged)
    (files,) = (scratch / "files").iterdir()
    (information,) = files.glob("*.dist-info")
    add_parts(information, folder, files)
    set_modes(files)
    target.mkdir(parents=True, exist_ok=True)
    wheel_tool("pack", "--dest-dir", target, files, env=variables)
    wheel = target / tagged.name
    say(f"made {wheel.relative_to(ROOT) if wheel.is_relative_to(ROOT) else wheel} ({wheel.stat().st_size / 1e6:.1f} MB)")
    return wheel


def wheel_tool(*arguments, **options) -> None:
    subprocess.run([python(), "-m", "wheel", *arguments], capture_output=True, check=True, text=True, **options)


def add_parts(information: Path, folder: Path, files: Path) -> None:
    """Adds the list of parts to the metadata of an unpacked wheel, whose version and requirement the staged folder has."""
    project, version = information.name.removesuffix(".dist-info").split("-")
    (versions,) = files.rglob("lib/versions")
    torch = versions.read_text(encoding="utf-8").split()[1]
    requires = (folder / "REQUIREMENTS").read_text(encoding="utf-8").strip()
    contents = sbom.document(project.replace("_", "-"), version, torch, requires, files, source_epoch())
    sbom.write(information / "sboms" / sbom.FILE, contents)


def set_modes(folder: Path) -> None:
    """Gives files the same permissions whatever the umask was: programs may be run, all may be read."""
    for file in folder.rglob("*"):
        file.chmod(0o755 if file.is_dir() or file.parent.name == "bin" else 0o644)
