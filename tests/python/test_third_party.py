"""Every dependency of the build and of the wheels has a row in THIRD_PARTY.md with a licence that is allowed."""

import importlib
import pathlib
import re
import shutil
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
third_party = importlib.import_module("dev.third_party")
common = importlib.import_module("dev.common")


@pytest.fixture
def page(tmp_path):
    """The page, beside a copy of the files of others among the sources."""
    shutil.copytree(ROOT / third_party.VENDORED, tmp_path / third_party.VENDORED)
    return pathlib.Path(shutil.copy(ROOT / third_party.PAGE, tmp_path))


def change(page: pathlib.Path, pattern: str, replacement: str) -> int:
    """Changes the first match. Returns the number of its line."""
    text = page.read_text(encoding="utf-8")
    found = re.search(pattern, text, re.MULTILINE)
    page.write_text(text[: found.start()] + found.expand(replacement) + text[found.end() :], encoding="utf-8")
    return text[: found.start()].count("\n") + 1


def test_the_page_names_all(page):
    assert third_party.problems(page.parent) == []
    parts = {part.name: part for part in third_party.parts(page.read_text(encoding="utf-8"))}
    assert {"oneDNN", "Highway", "FlatBuffers", "CLI11", "PyTorch", "pybind11", "dagre", "d3-zoom"} <= parts.keys()
    assert parts["oneDNN"].files() == ["libdnnl.so.3"] and parts["oneDNN"].wheels == "both"
    assert not third_party.WHEELS[parts["PyTorch"].wheels] and parts["FlatBuffers"].packages == ["libflatbuffers-dev"]


@pytest.mark.parametrize(("package", "line"), [("patchelf", r"^\| `patchelf` .*\n"), ("libhwy-dev", r"^\| \[Highway\].*\n")])
def test_a_package_without_row_is_refused(page, package, line):
    change(page, line, "")
    assert third_party.problems(page.parent) == [f"scripts/dev/machine.py installs {package}, which THIRD_PARTY.md does not name"]


def test_a_part_of_a_wheel_under_a_licence_that_asks_for_more_is_refused(page):
    line = change(page, r"(\[CLI11\]\S+ \| 2\.1\.2 \| )BSD-3-Clause", r"\1GPL-3.0-or-later")
    assert third_party.problems(page.parent) == [f"THIRD_PARTY.md:{line}: the licence GPL-3.0-or-later is not on the list of scripts/dev/licences.py"]


def test_a_program_under_an_unknown_licence_is_refused(page):
    line = change(page, r"(`doxygen` \| )GPL-2.0-only", r"\1SSPL-1.0")
    assert third_party.problems(page.parent) == [f"THIRD_PARTY.md:{line}: doxygen: the licence SSPL-1.0 is not on the list of scripts/dev/licences.py"]


def test_files_of_others_among_the_sources_have_a_row(page):
    (page.parent / third_party.VENDORED / "other.min.js").write_text("// https://example.org v1.0.0 \n")
    assert third_party.problems(page.parent) == [f"{third_party.VENDORED}/other.min.js is in no row of THIRD_PARTY.md"]


def test_their_versions_are_those_of_the_files(page):
    line = change(page, r"(\[d3-ease\]\S+ \| )1\.0\.5", r"\g<1>1.0.6")
    assert third_party.problems(page.parent) == [f"THIRD_PARTY.md:{line}: expected version 1.0.5 of d3-ease.min.js, got 1.0.6"]


def test_a_part_from_pypi_is_among_the_requirements(page):
    line = change(page, r"`onednn-cpu-gomp`", "`mkl`")
    assert third_party.problems(page.parent) == [f"THIRD_PARTY.md:{line}: requirements.txt has no mkl"]


def test_a_row_without_origin_is_refused(page):
    line = change(page, r"Debian `libcli11-dev`", "somewhere")
    with pytest.raises(common.Failure, match=rf"THIRD_PARTY\.md:{line}: expected \[name\]\(address\), version, licence, origin with `package`"):
        third_party.problems(page.parent)
