"""scripts/check_docs.py finds what documentation says and does not exist, and nothing in this tree."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def check_docs():
    spec = importlib.util.spec_from_file_location("check_docs", ROOT / "scripts/check_docs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_this_tree_is_clean(check_docs):
    assert list(check_docs.offences()) == []


@pytest.mark.parametrize("text, offence", [
    ("See src/engine/no_such_file.cpp.", "src/engine/no_such_file.cpp"),
    ("See `docs/nothing.md`.", "docs/nothing.md"),
    ("Run ./dev conquer.", "./dev conquer"),
    ("Set `TORCHTRT_NO_SUCH_SWITCH=1`.", "TORCHTRT_NO_SUCH_SWITCH"),
    ("Decision 9999 says why: docs/decisions/9999.", "9999"),
])
def test_a_planted_lie_in_any_text_is_found(check_docs, text, offence):
    assert any(offence in line for line in check_docs.offences_in_text("page.md", text))


@pytest.mark.parametrize("text, offence", [
    ("[a page](docs/none.md)", "docs/none.md"),
    ("`torchtrtc --conquer-the-world`", "--conquer-the-world"),
])
def test_a_planted_lie_in_a_page_is_found(check_docs, text, offence):
    assert any(offence in line for line in check_docs.offences_in_page("README.md", text))


@pytest.mark.parametrize("text", [
    "See src/engine, src/kernels/kernel.h and tests/unit/<folder>/NAME_test.cpp.",
    "`src/{engine,kernels}/README.md` and docs/decisions/0009",
    "Run ./dev test, with TORCHTRT_STRICT=1.",
])
def test_what_exists_is_no_offence(check_docs, text):
    assert list(check_docs.offences_in_text("page.md", text)) == []


def test_the_options_of_other_programs_are_not_ours(check_docs):
    assert list(check_docs.offences_in_page("README.md", "pip install --no-such-option\n[site](https://example.org/x)")) == []


def test_a_file_that_the_table_of_its_folder_lacks_is_found(check_docs, tmp_path, monkeypatch):
    monkeypatch.setattr(check_docs, "ROOT", tmp_path)
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.cpp").write_text("", encoding="utf-8")
    (tmp_path / "README.md").write_text("| `one` | first |\n| `two.*` | second |\n", encoding="utf-8")
    assert list(check_docs.offences_in_table(tmp_path / "README.md")) == ["README.md: its table has no row for three.cpp"]
