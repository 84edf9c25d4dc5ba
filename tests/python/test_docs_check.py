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
    ("`torchtrtc profil compiled.ts` prints", "torchtrtc profil"),
    ("first\n\n    torchtrtc insect compiled.ts --json\n", "torchtrtc insect"),
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
    assert any(offence in line for line in check_docs.offences_of_page("README.md", text))


@pytest.mark.parametrize("text", [
    "See src/engine, src/kernels/kernel.h and tests/unit/<folder>/NAME_test.cpp.",
    "`src/{engine,kernels}/README.md` and docs/decisions/0009",
    "Run ./dev test, with TORCHTRT_STRICT=1.",
    "`torchtrtc profile compiled.ts` prints what torchtrtc measured, `torchtrtc model.ts out.ts` writes.\n\n    torchtrtc check compiled.ts\n",
])
def test_what_exists_is_no_offence(check_docs, text):
    assert list(check_docs.offences_in_text("page.md", text)) == []


@pytest.mark.parametrize("truth, lie, offence", [
    ("`tests/unit/engine/fusion/`", "`tests/unit/engine/melting/`", "names tests/unit/engine/melting/, which does not exist"),
    ("`--reference-kernels`", "`--reference-colonels`", "names the option --reference-colonels, which no program has"),
    ("`torchtrt.verify(", "`torchtrt.verity(", "names the symbol torchtrt.verity, which no code has"),
])
def test_a_lie_planted_in_a_copy_of_a_page_is_found_with_its_place(check_docs, truth, lie, offence):
    name = "docs/debugging.md"
    text = (ROOT / name).read_text(encoding="utf-8")
    line = text[:text.index(truth)].count("\n") + 1
    assert list(check_docs.offences_of_page(name, text.replace(truth, lie))) == [f"{name}:{line}: {offence}"]


@pytest.mark.parametrize("symbol", [
    "LoweredModule", "torchtrt::ts::compileAll", "allocateConstants()", "torchtrt.runtime.prepares", "torchtrt.Input.min_shapes", "no_such_function",
])
def test_a_symbol_that_no_code_has_is_found(check_docs, symbol):
    (line,) = check_docs.offences_in_text("page.md", f"first\nSee `{symbol}`.")
    assert line == f"page.md:2: names the symbol {symbol.removesuffix('()')}, which no code has"


@pytest.mark.parametrize("symbol", [
    "LoweredGraph", "torchtrt::ts::compile", "allocateConstant()", "torchtrt.runtime.prepare", "torchtrt.Input.min_shape", "torchtrt.ts.compile(x)",
    "torchtrt.functional.softmax", "std::vector", "a file.txt", "torch.no_such_thing",
])
def test_a_symbol_that_exists_or_is_of_others_is_no_offence(check_docs, symbol):
    assert list(check_docs.offences_in_text("page.md", f"See `{symbol}`.")) == []


def test_a_comment_keeps_its_line(check_docs):
    comments = "\n".join(check_docs.COMMENT.findall("int a;\n\n// See `noSuchName`.\nint b;\n"))
    assert list(check_docs.offences_in_text("src/x.h", comments)) == ["src/x.h:3: names the symbol noSuchName, which no code has"]


def test_the_options_of_other_programs_are_not_ours(check_docs):
    assert list(check_docs.offences_of_page("README.md", "pip install --no-such-option\n[site](https://example.org/x)")) == []


def test_a_file_that_the_table_of_its_folder_lacks_is_found(check_docs, tmp_path, monkeypatch):
    monkeypatch.setattr(check_docs, "ROOT", tmp_path)
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.cpp").write_text("", encoding="utf-8")
    (tmp_path / "README.md").write_text("| `one` | first |\n| `two.*` | second |\n", encoding="utf-8")
    assert list(check_docs.offences_in_table(tmp_path / "README.md")) == ["README.md:1: its table has no row for three.cpp"]


def test_a_table_of_files_has_all_of_them(check_docs, tmp_path, monkeypatch):
    monkeypatch.setattr(check_docs, "ROOT", tmp_path)
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.cpp").write_text("", encoding="utf-8")
    (tmp_path / "README.md").write_text("text\n\n| file | content |\n|---|---|\n| `include/x/one.h` | first |\n", encoding="utf-8")
    assert list(check_docs.offences_in_table(tmp_path / "README.md")) == [
        "README.md:5: its table has no row for three.cpp", "README.md:5: its table has no row for two.cpp"]
