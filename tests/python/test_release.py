"""./dev release refuses what is not ready, and takes notes and checksums from the files."""

import importlib
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
releasing = importlib.import_module("dev.releasing")
tidying = importlib.import_module("dev.tidying")

LOG = """# Changelog

## [Unreleased]

## [1.2.0] - 2027-01-31

### Added
- a thing

## [1.1.0] - 2026-12-01

- older
"""


def git(folder, *arguments):
    who = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"]
    subprocess.run(["git", "-C", folder, *who, *arguments], check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path):
    """A committed tree of version 1.2.0 that can be released."""
    (tmp_path / "include/torchtrt").mkdir(parents=True)
    (tmp_path / releasing.VERSION_HEADER).write_text('#define TORCHTRT_VERSION_STRING "1.2.0"\n', encoding="utf-8")
    (tmp_path / releasing.CHANGELOG).write_text(LOG, encoding="utf-8")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "all")
    return tmp_path


def test_a_clean_tree_of_the_version_can_be_released(tree):
    assert releasing.problems(tree, "1.2.0") == []


def test_a_tree_with_changes_is_refused(tree):
    (tree / "new.txt").write_text("", encoding="utf-8")
    (problem,) = releasing.problems(tree, "1.2.0")
    assert problem.startswith("the tree has changes, in new.txt first")


def test_another_version_is_refused_twice(tree):
    version, changelog = releasing.problems(tree, "1.3.0")
    assert "has version 1.2.0, got 1.3.0" in version and "no text under" in changelog


def test_a_released_version_is_refused(tree):
    git(tree, "tag", "v1.2.0")
    (problem,) = releasing.problems(tree, "1.2.0")
    assert problem.startswith("the tag v1.2.0 exists")


def test_notes_are_the_section_alone(tree):
    assert releasing.notes(tree, "1.2.0") == "### Added\n- a thing\n"
    assert releasing.notes(tree, "1.1.0") == "- older\n"
    assert releasing.notes(tree, "1.2") == ""


def test_checksums_are_those_that_sha256sum_checks(tmp_path):
    (tmp_path / "a.whl").write_bytes(b"wheel")
    (tmp_path / "SHA256SUMS").write_text(releasing.checksums(tmp_path, ["a.whl"]), encoding="utf-8")
    check = ["sha256sum", "--check", "SHA256SUMS"]
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    (tmp_path / "a.whl").write_bytes(b"another")
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, check=False).returncode == 1


def test_changed_files_are_those_that_main_lacks(tree, monkeypatch):
    monkeypatch.setattr(tidying, "ROOT", tree)
    monkeypatch.setattr(tidying, "captured", lambda command: subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False))
    git(tree, "branch", "--move", "main")
    (tree / "a.cpp").write_text("", encoding="utf-8")
    git(tree, "add", ".")
    git(tree, "commit", "--quiet", "--message", "a")
    assert tidying.changed_files(".cpp") == ["a.cpp"]  # on main: the last commit
    git(tree, "switch", "--quiet", "--create", "work")
    git(tree, "commit", "--quiet", "--allow-empty", "--message", "nothing")
    (tree / "b.cpp").write_text("", encoding="utf-8")
    assert tidying.changed_files(".cpp") == ["b.cpp"]
    git(tree, "add", ".")
    git(tree, "commit", "--quiet", "--message", "b")
    git(tree, "branch", "--delete", "--force", "main")
    assert tidying.changed_files(".cpp") == ["b.cpp"]  # without main: the last commit
    git(tree, "branch", "main", "HEAD~")
    git(tree, "branch", "upstream", "HEAD")
    git(tree, "branch", "--set-upstream-to", "upstream", "main")
    assert tidying.changed_files(".cpp") == []


def test_clang_tidy_gets_a_header_as_text_instead_of_a_precompiled_one(tmp_path):
    header = tmp_path / "pch.hxx"
    header.write_text("#include <vector>\n", encoding="utf-8")
    folder = tmp_path / "tidy"
    folder.mkdir()
    command = f"c++ -I a -Werror -fpch-preprocess -Winvalid-pch -include {header} -o x.o -c x.cpp"
    assert tidying.plain_command({"command": command}, folder) == ["c++", "-I", "a", "-include", str(folder / "pch.hxx")]
    assert (folder / "pch.hxx").read_text(encoding="utf-8") == "#include <vector>\n"
