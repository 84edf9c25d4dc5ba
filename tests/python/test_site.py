"""The documentation's site is complete: every page in its navigation, every tutorial in its table, every picture drawn. No site is built."""

import re
import sys
from pathlib import Path

import pytest

import torchtrt

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "site"))

import comments  # noqa: E402
import contents  # noqa: E402
import links  # noqa: E402
import pictures  # noqa: E402
import stubs  # noqa: E402
import tutorials  # noqa: E402


def test_every_page_of_docs_is_in_the_navigation():
    pages = {name for name in contents.tracked(".md") if name.startswith("docs/")}
    assert pages - contents.in_navigation() == set()


def test_every_readme_of_a_stage_is_in_the_navigation():
    stages = {str(path.relative_to(ROOT)) for path in (ROOT / "src").glob("*/README.md")}
    assert stages - contents.in_navigation() == set()


def test_every_entry_of_the_navigation_exists_and_stands_once():
    entries = [entry.page for listed in contents.navigation().values() for entry in listed]
    assert len(entries) == len(set(entries))
    made = {entry for entry in entries if entry.startswith(contents.GALLERY)}  # sphinx-gallery writes these
    assert [entry for entry in entries if entry not in made and not (ROOT / entry).is_file()] == []
    assert made == {f"{contents.GALLERY}/index.rst"}


def test_the_table_of_tutorials_has_all():
    programs = {path.name for path in (ROOT / contents.TUTORIALS).glob("*.py")}
    assert set(tutorials.ORDER) == programs and len(tutorials.ORDER) == len(programs)


def test_every_picture_is_drawn():
    wanted = pictures.sources()
    assert len(wanted) >= 5
    assert {path.name for path in pictures.FOLDER.glob("*.svg")} == set(wanted), "run ./dev docs --pictures"


def test_every_public_header_has_a_place():
    listed = (ROOT / "docs/api/cpp.rst").read_text(encoding="utf-8")
    headers = [path.stem for path in (ROOT / "include/torchtrt").glob("*.h") if path.name != "cxx17.h"]
    assert [name for name in headers if f"   cpp/{name}\n" not in listed] == []


def test_every_command_of_torchtrtc_has_a_place():
    added = re.findall(r"\badd(\w+)Command\(\*app\)", (ROOT / "tools/torchtrtc/tool.cpp").read_text(encoding="utf-8"))
    shown = re.findall(r"torchtrtc/(\w+)\.txt", (ROOT / "docs/api/torchtrtc.rst").read_text(encoding="utf-8"))
    assert len(added) >= 6 and {name.lower() for name in added} <= set(shown)


def test_every_public_name_of_python_has_a_place():
    listed = (ROOT / "docs/api/python.rst").read_text(encoding="utf-8")
    aliases = {"memory_format"}
    assert [name for name in torchtrt.__all__ if name not in aliases and f":: torchtrt.{name}\n" not in listed] == []


def test_links_to_folders_and_tutorials_lead_to_pages():
    text = "[a](../examples/tutorials/ranges.py), [b](decisions), [glossary.md](glossary.md), `[c](none)`"
    changed = contents.with_site_links("docs/page.md", text)
    assert changed == "[a](tutorials/ranges.rst), [b](decisions/README.md), [](glossary.md), `[c](none)`"


@pytest.mark.parametrize("source, expected", [
    ("// Adds numbers.\n#pragma once\n", ["/** \\file", "Adds numbers.", "*/"]),
    ("#pragma once\n// Adds <two> `a<b>`.\nint add();\n", ["/**", "Adds \\<two\\> <code>a\\<b\\></code>.", "*/"]),
    ("int x = 0;  // of y\n", ["int x = 0;  ///< of y"]),
    ('const char* url = "http://x";\n', ['const char* url = "http://x";']),
    ("int f() {  // no note\n", ["int f() {  // no note"]),
    ("X(int a);  // NOLINT(explicit)\n", ["X(int a);"]),
])
def test_comments_become_documentation(source, expected):
    lines = comments.filtered(source).splitlines()
    assert all(line in lines for line in expected)


def test_signatures_come_from_the_stubs():
    arguments, result = stubs.of("torchtrt.load")
    assert "map_location: str | torch.device | None=None" in arguments and result == "torch.jit.ScriptModule"
    assert "_InputLike" not in stubs.of("torchtrt.compile")[0]
    assert stubs.of("torchtrt.nothing") is None


@pytest.mark.parametrize("target, found", [
    ("page.html#here", ""), ("page.html#there", "the page has no such anchor"), ("none.html", "there is no such file"),
    ("../../secret.html", "there is no such file"), ("https://example.org/a", ""), ("https://nowhere/a", "no address of a server"),
    ("ftp://example.org", "no scheme that a browser follows"),
])
def test_broken_links_are_found(tmp_path, target, found):
    (tmp_path / "page.html").write_text('<h1 id="here">A</h1>')
    (tmp_path / "index.html").write_text(f'<a href="{target}">x</a>')
    _, count, broken = links.check(tmp_path)
    assert count == 1
    assert broken == ([f"index.html: {target}: {found}"] if found else [])
