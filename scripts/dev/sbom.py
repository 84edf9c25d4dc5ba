"""The list of a wheel's parts as CycloneDX JSON, which PEP 770 puts into .dist-info/sboms: what is inside with versions, licences and hashes,
and what it needs where it runs. Equal files give equal bytes."""

import hashlib
import json
import re
import subprocess
import uuid
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from . import locks, third_party, torch_versions
from .common import ROOT, Environment, Failure

FILE = "torchtrt.cdx.json"
SPECIFICATION = "1.6"


def sha256(file: Path) -> list[dict]:
    return [{"alg": "SHA-256", "content": hashlib.sha256(file.read_bytes()).hexdigest()}]


def debian_version(package: str) -> str:
    """The version of an installed package; empty where there is no dpkg or no such package."""
    try:
        command = ["dpkg-query", "--show", "--showformat=${Version}", package]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return ""


def pybind11_version() -> str:
    """That of the headers which this torch brings along."""
    (header,) = Environment.folder.resolve().glob("lib/python3*/site-packages/torch/include/pybind11/detail/common.h")
    numbers = dict(re.findall(r"^#define PYBIND11_VERSION_(MAJOR|MINOR|MICRO|PATCH) +(\d+)", header.read_text(encoding="utf-8"), re.MULTILINE))
    return ".".join((numbers["MAJOR"], numbers["MINOR"], numbers.get("MICRO") or numbers["PATCH"]))


def version_of(part: third_party.Part) -> str:
    return pybind11_version() if part.name == "pybind11" else part.version


def package_url(part: third_party.Part) -> str:
    """The address of a part in the registry that it was taken from; a Failure if that has another version than the page says."""
    package, version = part.packages[0], version_of(part)
    if part.origin == "GitHub":
        return f"pkg:github/{package}@{version}"
    if part.name == "pybind11":
        return f"pkg:pypi/pybind11@{version}"
    if part.origin == "PyPI":
        return f"pkg:pypi/{package}@{requirement(package)}"
    if part.name.startswith("d3-"):
        return f"pkg:npm/{part.name}@{version}"  # the file stands among the sources, so that no package has to be installed
    installed = debian_version(package)
    if installed and not installed.startswith(version):
        raise Failure(f"{third_party.PAGE}:{part.line}: expected version {installed} of {package}, which is installed, got {version}")
    return f"pkg:deb/debian/{package}@{quote(installed or version)}"


def requirement(package: str) -> str:
    return locks.pins(torch_versions.pinned_text())[locks.normal(package)]


def component(part: third_party.Part, folder: Path) -> dict:
    """A part of the wheel whose unpacked files are in a folder."""
    made = {
        "type": "library", "bom-ref": package_url(part), "name": part.name, "version": version_of(part),
        "licenses": [{"license": {"id": part.licence}}], "purl": package_url(part),
        "externalReferences": [{"type": "website", "url": part.address}],
        "properties": [{"name": "torchtrt:form", "value": part.form.replace("`", "")}],
    }
    for name in part.files():
        vendored = ROOT / third_party.VENDORED / name
        (file,) = [vendored] if vendored.exists() else folder.rglob(name)
        made["hashes"] = sha256(file)
    return made


def own_file(file: Path, folder: Path) -> dict:
    name = file.relative_to(folder).as_posix()
    return {"type": "file", "bom-ref": f"file:{name}", "name": name, "hashes": sha256(file), "licenses": [{"license": {"id": "Apache-2.0"}}]}


def is_binary(file: Path) -> bool:
    with open(file, "rb") as opened:
        return opened.read(4) == b"\x7fELF"


def torch_component(version: str, requires: str) -> dict:
    return {
        "type": "library", "bom-ref": f"pkg:pypi/torch@{version}", "name": "torch", "version": version,
        "licenses": [{"license": {"id": "BSD-3-Clause"}}], "purl": f"pkg:pypi/torch@{version}",
        "externalReferences": [{"type": "website", "url": "https://pytorch.org"}],
        "properties": [{"name": "torchtrt:form", "value": "not in the wheel: needed where it runs"}, {"name": "torchtrt:requirement", "value": requires}],
    }


def document(project: str, version: str, torch: str, requires: str, folder: Path, epoch: int) -> dict:
    """`folder` has the unpacked wheel, `epoch` is the time of the sources in seconds. A Failure names a binary that no row of THIRD_PARTY.md
    has."""
    text = (ROOT / third_party.PAGE).read_text(encoding="utf-8")
    inside = [part for part in third_party.parts(text) if project in third_party.WHEELS[part.wheels]]
    foreign = {name for part in inside for name in part.files()}
    binaries = sorted(file for file in folder.rglob("*") if file.is_file() and is_binary(file))
    own = [file for file in binaries if file.name not in foreign]
    unnamed = [file.name for file in own if "torchtrt" not in file.name]
    if unnamed:
        raise Failure(f"{project} holds {unnamed[0]}, which no row of {third_party.PAGE} names")
    components = [component(part, folder) for part in inside] + [torch_component(torch, requires)]
    url = f"pkg:pypi/{project}@{quote(version)}"
    files = [own_file(file, folder) for file in own]
    made = {
        "$schema": f"http://cyclonedx.org/schema/bom-{SPECIFICATION}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": SPECIFICATION,
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).isoformat(),
            "component": {"type": "library", "bom-ref": url, "name": project, "version": version,
                          "licenses": [{"license": {"id": "Apache-2.0"}}], "purl": url},
        },
        "components": components + files,
        "dependencies": [{"ref": url, "dependsOn": sorted(each["bom-ref"] for each in components)}],
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(made, sort_keys=True))  # a name for these contents
    return {**made, "serialNumber": serial.urn}


def write(file: Path, contents: dict) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(contents, indent=1) + "\n", encoding="utf-8")
