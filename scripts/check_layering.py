#!/usr/bin/env python3
"""Checks who includes whom against the table in CMakeLists.txt (torchtrt_folder ... DEPENDS), and that vendor headers and
instruction-set flags stay where they are allowed. Exits with 1 and one line per offence."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# The folder that each public header belongs to; a header under include/ that is not here belongs to the folder "compiler".
PUBLIC = {
    "export": "base",
    "version": "base",
    "types": "base",
    "error": "base",
    "logging": "base",
    "network": "network",
    "layer_table": "network",
    "rewriting": "rewriting",
    "plugin": "engine",
    "engine": "engine",
    "conversion": "conversion",
    "runtime": "runtime",
}
# What a user sets is read by the stages that it steers.
OPTIONS_READERS = {"lowering", "partitioning", "conversion", "stitching", "compiler"}

TORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.MULTILINE)
FOLDER = re.compile(r"^torchtrt_folder\((\w+)([^)]*)\)", re.MULTILINE)
MACHINE_FLAG = re.compile(r"(?<![\w-])-m(arch|tune|cpu|avx|sse|fma|amx|f16c|bmi|native)\w*")


def read_table():
    """Folder -> (may include, is on the TorchScript side)."""
    table = {}
    for name, rest in FOLDER.findall((ROOT / "CMakeLists.txt").read_text(encoding="utf-8")):
        words = rest.split()
        depends = words[words.index("DEPENDS") + 1 :] if "DEPENDS" in words else []
        table[name] = ({name, *depends}, "TORCH" in words)
    return table


def owner_of(include: str, table) -> str | None:
    """The folder that an include path belongs to, None when it is not ours."""
    parts = include.split("/")
    if parts[0] in ("torchtrt", "trtorch", "torch_tensorrt") and len(parts) > 1:
        return PUBLIC.get(parts[1].split(".")[0], "compiler") if parts[0] == "torchtrt" else "compiler"
    return parts[0] if parts[0] in table and len(parts) > 1 else None


def allowed(folder: str, include: str, table) -> bool:
    owner = owner_of(include, table)
    if owner is None or owner in table[folder][0]:
        return True
    return include.startswith("torchtrt/options.") and folder in OPTIONS_READERS


def offences_in(path: Path, folder: str, table):
    name = path.relative_to(ROOT)
    for bracket, include in INCLUDE.findall(path.read_text(encoding="utf-8")):
        if bracket == '"' and not allowed(folder, include, table):
            yield f"{name}: {folder} must not include {include} (of {owner_of(include, table)})"
        if TORCH.match(include) and not table[folder][1]:
            yield f"{name}: {folder} is on the engine side and must not include {include}"
        if include.startswith("ATen/cpu/vec"):
            yield f"{name}: {include} needs instruction-set flags, which no file has"
        if re.match(r"(oneapi/)?dnnl", include) and folder != "kernels":
            yield f"{name}: oneDNN is included in kernels only, here {include}"
        if include.endswith("plan_generated.h") and folder != "plan":
            yield f"{name}: the generated plan accessors are plan's own, here {include}"


def main() -> int:
    table = read_table()
    offences = []
    files = 0
    for folder in table:
        for path in sorted((ROOT / "src" / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                files += 1
                offences += offences_in(path, folder, table)
    for path in sorted((ROOT / "include").rglob("*")):
        if path.suffix in (".h", ".def"):
            files += 1
            include = str(path.relative_to(ROOT / "include"))
            folder = owner_of(include, table)
            offences += offences_in(path, folder, table)
    for path in [ROOT / "CMakeLists.txt", ROOT / "CMakePresets.json", *sorted((ROOT / "cmake").iterdir())]:
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.lstrip().startswith("#") and MACHINE_FLAG.search(line):
                offences.append(f"{path.relative_to(ROOT)}: no instruction-set flags: {line.strip()}")
    known = set(table) | {"README.md"}
    offences += [f"src/{entry.name}: not in the table" for entry in (ROOT / "src").iterdir() if entry.name not in known]
    for offence in offences:
        print(f"layering: {offence}", file=sys.stderr)
    print(f"layering: {files} files, {len(offences)} offences")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
