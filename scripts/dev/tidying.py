"""clang-tidy over named or changed files. clang cannot read GCC's precompiled header, and CMake lists files that include libtorch only as
parts of generated ones, so it gets a compile_commands.json of its own."""

import concurrent.futures
import json
import os
import re
import shlex
from pathlib import Path

from . import building, machine
from .common import ROOT, Failure, captured, say

INCLUDED = re.compile(r'^#include "(.+\.cpp)"$', re.MULTILINE)
# Text that other files include, once for each instruction set; it does not stand alone.
PARTS = ("-inl.h",)
GCC_ONLY = {"-fpch-preprocess", "-Winvalid-pch", "-Werror"}


def git(*arguments: str) -> str:
    """The output, empty if git fails: a branch may be missing."""
    result = captured(["git", *arguments])
    return result.stdout.strip() if result.returncode == 0 else ""


def changed_files(suffixes) -> list[str]:
    """Files with changes that are not in main's upstream, committed or not. Without an upstream the branch main takes its place. On main
    itself, and where there is no main, as in a checkout of continuous integration, it is the commit before."""
    upstream = git("rev-parse", "--verify", "--quiet", "main@{upstream}")
    base = git("merge-base", "HEAD", upstream or "main")
    if not upstream and base in ("", git("rev-parse", "HEAD")):
        base = git("rev-parse", "--verify", "--quiet", "HEAD~")
    names = git("diff", "--name-only", base or "HEAD").splitlines() + git("ls-files", "--others", "--exclude-standard").splitlines()
    return sorted({name for name in names if name.endswith(suffixes) and (ROOT / name).is_file()})


def plain_command(entry: dict, folder: Path) -> list[str]:
    """The arguments without source, output and precompiled header. The header's text is included in its place."""
    words = iter(shlex.split(entry["command"]))
    command = []
    for word in words:
        if word in ("-c", "-o"):
            next(words)
        elif word == "-include":
            header = Path(next(words))
            text = folder / header.name  # a copy has no compiled form beside it
            text.write_bytes(header.read_bytes())
            command += [word, str(text)]
        elif word not in GCC_ONLY:
            command.append(word)
    return command


def commands(preset: str) -> dict[str, list[str]]:
    """The command for each source file, and for each folder under its name that of one of its files, for headers."""
    build = building.build_folder(preset)
    folder = build / "tidy"
    folder.mkdir(exist_ok=True)
    found: dict[str, list[str]] = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        source = Path(entry["file"])
        if "c++-header" in entry["command"]:
            continue
        sources = INCLUDED.findall(source.read_text(encoding="utf-8")) if source.suffix == ".cxx" else [str(source)]
        command = plain_command(entry, folder)
        for each in sources:
            found.setdefault(each, command)
            found.setdefault(str(Path(each).parent), command)
    return found


def command_for(path: Path, known: dict[str, list[str]]) -> list[str] | None:
    """The command of a file; a header takes that of its folder, or of the next folder above that has one."""
    if path.suffix == ".cpp":
        return known.get(str(path))
    for folder in path.parents:
        if str(folder) in known:
            return [*known[str(folder)], "-x", "c++"]
    # A public header: any file includes it. Those with libtorch need the command of a folder that has it.
    return [*known[str(ROOT / "src/compiler")], "-x", "c++"] if ROOT in path.parents else None


def tidy(preset: str, files) -> None:
    """Checks the named files, else those that changed. Says how many, and fails with all that was found."""
    wanted = [Path(name).resolve() for name in files or changed_files((".cpp", ".h"))]
    wanted = [path for path in wanted if not path.name.endswith(PARTS)]
    if not wanted:
        say("clang-tidy: no C++ file has changed")
        return
    machine.install_packages(machine.TIDY_PACKAGES)
    building.build(preset, ["plan_schema"])
    known = commands(preset)
    entries = []
    for path in wanted:
        command = command_for(path, known)
        if command:  # others are in no target: tests/plugin_converter, for one
            entries.append({"directory": str(building.build_folder(preset)), "file": str(path), "arguments": [*command, "-c", str(path)]})
    folder = building.build_folder(preset) / "tidy"
    (folder / "compile_commands.json").write_text(json.dumps(entries, indent=1), encoding="utf-8")
    say(f"clang-tidy over {len(entries)} files, up to {20 * len(entries) // (os.cpu_count() or 1)} s")
    call = ["clang-tidy", "--quiet", "-p", str(folder)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda entry: captured([*call, entry["file"]]), entries))
    wrong = [result.stdout + ("" if "error:" in result.stdout else result.stderr) for result in results if result.returncode != 0]
    if wrong:
        raise Failure("clang-tidy found:\n" + "\n".join(wrong))
    say("clang-tidy found nothing")
