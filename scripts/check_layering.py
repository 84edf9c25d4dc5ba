#!/usr/bin/env python3
"""Checks who includes whom against the table in CMakeLists.txt (torchtrt_folder ... DEPENDS), and that vendor headers
and instruction-set flags stay where they are allowed. Exits with 1 and one line per offence."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# These stages read the options that steer them.
OPTIONS_READERS = {"lowering", "partitioning", "conversion", "stitching", "compiler"}

TORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.MULTILINE)
FOLDER = re.compile(r"^torchtrt_folder\((\w+)([^)]*)\)", re.MULTILINE)
MACHINE_FLAG = re.compile(r"(?<![\w-])-m(arch|tune|cpu|avx|sse|fma|amx|f16c|bmi|native)\w*")


class Table:
    """Holds what CMakeLists.txt says of the folders."""

    def __init__(self, text: str):
        self.may_include = {}
        self.is_torch = {}
        self.public_owner: dict[str, str] = {}
        for name, rest in FOLDER.findall(text):
            lists: dict[str, list[str]] = {"": [], "DEPENDS": [], "PUBLIC": []}
            key = ""
            for word in rest.split():
                if word in lists:
                    key = word
                else:
                    lists[key].append(word)
            self.may_include[name] = {name, *lists["DEPENDS"]}
            self.is_torch[name] = "TORCH" in lists[""]
            self.public_owner.update((header, name) for header in lists["PUBLIC"])

    def owner_of(self, include: str) -> str | None:
        """The folder that an include path belongs to, None when it is not ours."""
        top, _, rest = include.partition("/")
        if top == "torchtrt":
            return self.public_owner.get(rest.split("/")[0].split(".")[0], "compiler")
        if top in ("trtorch", "torch_tensorrt"):
            return "compiler"
        return top if top in self.may_include and rest else None


def allowed(folder: str, include: str, table: Table) -> bool:
    owner = table.owner_of(include)
    if owner is None or owner in table.may_include[folder]:
        return True
    return include.startswith("torchtrt/options.") and folder in OPTIONS_READERS


def offences_in(path: Path, folder: str, table: Table) -> Iterator[str]:
    name = path.relative_to(ROOT)
    for bracket, include in INCLUDE.findall(path.read_text(encoding="utf-8")):
        if bracket == '"' and not allowed(folder, include, table):
            yield f"{name}: {folder} must not include {include} (of {table.owner_of(include)})"
        if TORCH.match(include) and not table.is_torch[folder]:
            yield f"{name}: {folder} is on the engine side and must not include {include}"
        if include.startswith("ATen/cpu/vec"):
            yield f"{name}: {include} needs instruction-set flags, which no file has"
        if re.match(r"(oneapi/)?dnnl", include) and folder != "cpu":
            yield f"{name}: oneDNN is included in cpu only, here {include}"
        if include.endswith("plan_generated.h") and folder != "plan":
            yield f"{name}: the generated plan accessors are plan's own, here {include}"


def main() -> int:
    table = Table((ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
    offences: list[str] = []
    files = 0
    for folder in table.may_include:
        for path in sorted((ROOT / "src" / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                files += 1
                offences += offences_in(path, folder, table)
    for path in sorted((ROOT / "include").rglob("*")):
        if path.suffix in (".h", ".def"):
            files += 1
            include = str(path.relative_to(ROOT / "include"))
            offences += offences_in(path, table.owner_of(include) or "compiler", table)
    for path in [ROOT / "CMakeLists.txt", ROOT / "CMakePresets.json", *sorted((ROOT / "cmake").iterdir())]:
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.lstrip().startswith("#") and MACHINE_FLAG.search(line):
                offences.append(f"{path.relative_to(ROOT)}: no instruction-set flags: {line.strip()}")
    known = set(table.may_include) | {"README.md"}
    offences += [f"src/{entry.name}: not in the table" for entry in (ROOT / "src").iterdir() if entry.name not in known]
    for offence in offences:
        print(f"layering: {offence}", file=sys.stderr)
    print(f"layering: {files} files, {len(offences)} offences")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
