"""Each wheel lists its parts, has the same bytes wherever and by whomever it is packed, and tells neither where nor by whom it was built."""

import hashlib
import importlib
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import zipfile

import pytest
import torch
from conftest import BUILD, PROJECTS, ROOT
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

sys.path.insert(0, str(ROOT / "scripts"))
packaging = importlib.import_module("dev.packaging")
sbom = importlib.import_module("dev.sbom")
third_party = importlib.import_module("dev.third_party")
common = importlib.import_module("dev.common")

# Folders that only the machine has on which something was built.
BUILD_PLACES = re.compile(rb"/(?:home|root|builds?|opt/\w+/build)/[\w.+/-]+")


def places_in(data: bytes) -> set[str]:
    """Paths in a file that tell where it was built or who built it."""
    own = {str(ROOT), str(pathlib.Path.home()), str(common.VENV_LINK.resolve()), str(common.CACHE)}
    return {place for place in own if len(place) > 1 and place.encode() + b"/" in data} | {each.decode() for each in BUILD_PLACES.findall(data)}


@pytest.fixture(scope="module", params=PROJECTS)
def wheel(request, wheels):
    return wheels[request.param]


@pytest.fixture(scope="module")
def files(wheel, tmp_path_factory):
    """The folder of the wheel's files."""
    folder = tmp_path_factory.mktemp("files")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


@pytest.fixture(scope="module")
def listed(files):
    (file,) = files.glob("*.dist-info/sboms/*.cdx.json")
    return json.loads(file.read_text(encoding="utf-8"))


def components(listed) -> dict:
    return {each["name"]: each for each in listed["components"]}


def test_the_list_keeps_the_schema_of_cyclonedx(files):
    (file,) = files.glob("*.dist-info/sboms/*.cdx.json")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(file.read_text(encoding="utf-8")) is None


def test_the_schema_is_looked_at(files):
    (file,) = files.glob("*.dist-info/sboms/*.cdx.json")
    wrong = file.read_text(encoding="utf-8").replace('"SHA-256"', '"SHA-0"', 1)
    assert "SHA-0" in str(JsonStrictValidator(SchemaVersion.V1_6).validate_str(wrong))


def test_every_binary_is_listed_with_its_hash(files, listed):
    hashes = {each["hashes"][0]["content"] for each in listed["components"] if "hashes" in each}
    binaries = [file for file in files.rglob("*") if file.is_file() and sbom.is_binary(file)]
    assert {"libdnnl.so.3", "libhwy.so.1", "libtorchtrt_engine.so"} <= {file.name for file in binaries}
    assert {hashlib.sha256(file.read_bytes()).hexdigest() for file in binaries} <= hashes


def test_parts_have_versions_and_licences(wheel, listed):
    found = components(listed)
    project = "torchtrt" if wheel.name.startswith("torchtrt-") else "torchtrt-runtime"
    assert listed["metadata"]["component"]["name"] == project
    expected = {part.name for part in third_party.parts((ROOT / third_party.PAGE).read_text(encoding="utf-8")) if project in third_party.WHEELS[part.wheels]}
    assert expected | {"torch"} == {name for name, each in found.items() if each["type"] == "library"}
    assert ("CLI11" in found) == ("dagre" in found) == ("pybind11" in found) == (project == "torchtrt")
    assert all(each["version"] and each["licenses"][0]["license"]["id"] and each["purl"].startswith("pkg:") for each in found.values() if each["type"] == "library")
    assert found["torch"]["version"] == torch.__version__.partition("+")[0]
    assert {each["name"]: each["value"] for each in found["torch"]["properties"]}["torchtrt:requirement"].startswith("torch==")


def test_its_time_is_that_of_the_sources(wheel, listed):
    assert {info.date_time[0] for info in zipfile.ZipFile(wheel).infolist()} == {int(listed["metadata"]["timestamp"][:4])}


def test_a_binary_of_others_without_row_is_refused(tmp_path):
    (tmp_path / "libother.so").write_bytes(b"\x7fELF")
    with pytest.raises(common.Failure, match=r"torchtrt holds libother\.so, which no row of THIRD_PARTY\.md names"):
        sbom.document("torchtrt", "0.1.0", "2.11.0", "torch==2.11.*", tmp_path, 0)


def test_packed_again_elsewhere_it_has_the_same_bytes(wheel, tmp_path, monkeypatch):
    """With other permissions of new files, another folder and another time."""
    built = tmp_path / "another place" / "build"
    built.parent.mkdir()
    shutil.copytree(BUILD / "lib", built / "lib", symlinks=True)
    for folder in ("bin", "python"):
        (built / folder).symlink_to(BUILD / folder)
    before = os.umask(0o077)
    try:
        if wheel.name.startswith("torchtrt-"):
            again = packaging.pack(tmp_path / "wheel", packaging.stage(built, tmp_path / "wheel"), tmp_path / "dist")
        else:
            staged = packaging.stage_runtime(built, tmp_path / "wheel")
            again = packaging.pack(tmp_path / "wheel", staged, tmp_path / "dist", "--python-tag", "py3", "--abi-tag", "none")
    finally:
        os.umask(before)
    assert again.name == wheel.name
    assert hashlib.sha256(again.read_bytes()).hexdigest() == hashlib.sha256(wheel.read_bytes()).hexdigest()


def test_all_may_read_it_and_run_its_programs(wheel):
    modes = {info.filename: stat.S_IMODE(info.external_attr >> 16) for info in zipfile.ZipFile(wheel).infolist()}
    assert {name: mode for name, mode in modes.items() if mode != 0o644 and not name.endswith("RECORD")} == (
        {"torchtrt/bin/torchtrtc": 0o755} if wheel.name.startswith("torchtrt-") else {})


def test_no_file_tells_where_it_was_built(files):
    found = {file.name: places for file in files.rglob("*") if file.is_file() and (places := places_in(file.read_bytes()))}
    assert found == {}


def test_a_place_is_found():
    assert places_in(b"\0" + str(ROOT).encode() + b"/src/a.cpp\0") and places_in(b"at /home/ada/torch/ir.h:7") and not places_in(b"/usr/lib/x86_64-linux-gnu")


def test_run_paths_begin_at_the_file(files):
    """No folder of the machine that built, none of the working directory, and no element that is empty."""
    for file in (each for each in files.rglob("*") if each.is_file() and sbom.is_binary(each)):
        listing = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout
        (elements,) = re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", listing)
        assert all(re.fullmatch(r"\$ORIGIN(/[\w./]+)?", element) for element in elements.split(":")), (file.name, elements)
