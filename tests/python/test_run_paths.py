"""No binary of torchtrt looks for libraries in the current directory, or in a folder that everybody may write to."""

import os
import re
import stat
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["TORCHTRT_BUILD"])
FOLDERS = ("bin", "lib", "python/torchtrt")


def is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def binaries(root: Path) -> list[Path]:
    files = (path for folder in FOLDERS for path in sorted((root / folder).glob("*")))
    return [path for path in files if path.is_file() and not path.is_symlink() and is_elf(path)]


def run_path(binary: Path) -> list[str]:
    listing = subprocess.run(["readelf", "-d", binary], capture_output=True, text=True, check=True).stdout
    return [element for text in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", listing) for element in text.split(":")]


def problems(binary: Path) -> list[str]:
    found = []
    for element in run_path(binary):
        if element.startswith("$ORIGIN"):
            folder = Path(str(binary.parent) + element.removeprefix("$ORIGIN"))
        elif element.startswith("/"):
            folder = Path(element)
        else:
            found.append(f"{binary.name}: {element!r} is relative to the current directory")
            continue
        # A missing folder could be made by whoever may write to the nearest one that is there.
        folder = next(each for each in [folder.resolve(), *folder.resolve().parents] if each.exists())
        if folder.stat().st_mode & stat.S_IWOTH:
            found.append(f"{binary.name}: everybody may write to {folder}, of {element!r}")
    return found


def test_the_build_tree_has_binaries():
    names = {path.name for path in binaries(BUILD)}
    assert {"torchtrtc", "torchtrt-opt"} <= names and any(name.startswith("libtorchtrt.so") for name in names)
    assert any(name.startswith("_torchtrt.") for name in names)


def test_no_run_path_can_be_hijacked():
    assert [problem for binary in binaries(BUILD) for problem in problems(binary)] == []


@pytest.mark.parametrize("element, says", [("/opt/lib:", "''"), (":/opt/lib", "''"), ("lib", "'lib'"), ("/tmp/none/lib", "/tmp"), ("$ORIGIN/../lib", "")])
def test_a_bad_run_path_is_found(tmp_path, element, says):
    (tmp_path / "empty.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", tmp_path / "empty.c", "-o", tmp_path / "program", f"-Wl,-rpath,{element}"], check=True)
    found = problems(tmp_path / "program")
    assert (says in found[0]) if says else found == []


def test_a_planted_library_is_not_loaded(tmp_path):
    """torchtrtc, started in a folder that has a library of the name of one that it needs."""
    (tmp_path / "planted.c").write_text('#include <stdio.h>\n__attribute__((constructor)) static void run(void) { puts("planted"); }\n')
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "planted.c", "-o", tmp_path / "libhwy.so.1"], check=True)
    process = subprocess.run([BUILD / "bin" / "torchtrtc", "--version"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert process.returncode == 0 and "planted" not in process.stdout, process.stdout + process.stderr
