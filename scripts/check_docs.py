#!/usr/bin/env python3
"""Checks that documentation and comments name what exists: files, links, commands and options of our tools, environment variables and
symbols; and that the table of files in a stage's README has every file of the stage. Exits with 1 and one line per offence, with its place."""

import ast
import fnmatch
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Folders that a path in a text may begin with; others are examples ("out.ts") or paths of the user.
TOP_FOLDERS = ("bench", "cmake", "docs", "examples", "include", "python", "scripts", "src", "tests", "tools", ".ci", ".github")
PATH = re.compile(r"(?<![\w/.<-])((?:" + "|".join(map(re.escape, TOP_FOLDERS)) + r")/[\w./<>*{},-]*[\w*>}/])")
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")
DEV = re.compile(r"\./dev ([a-z][\w-]*)")
TOOL = re.compile(r"(?:`|^(?: {4}|\$ ))torchtrtc ([a-z][\w-]*)(?=[\s`])", re.MULTILINE)  # a file after it has a suffix
VARIABLE = re.compile(r"\b(TORCHTRT_[A-Z][A-Z_]+[A-Z])\b")
OPTION = re.compile(r"(?<![\w-])(--[a-z][\w-]*\w)(?!-)\b")
DECISION = re.compile(r"\bdecisions?/?\s?\(?(\d{4})\b")
TABLE_ROW = re.compile(r"^\| `.*$", re.MULTILINE)
COMMENT = re.compile(r"^[ \t]*(?://|#)(.*)$|^.*$", re.MULTILINE)  # a line of code gives an empty one
INLINE = re.compile(r"`([^`\n]+)`")
# Names of C++ and Python, with their qualifiers: not parts of paths, of options or of text in quotes.
SYMBOL = re.compile(r"(?<![\w./\"'-])([A-Za-z_]\w*(?:(?:::|\.)[A-Za-z_]\w*)*)(?![\w/-])")
# Names of others, and of nothing: our code has no use of them.
FOREIGN_SYMBOLS = {"CamelCase", "camelCase", "snake_case", "trailing_", "quantize_static", "reduce_range", "torchtrt._torchtrt", "manylinux_2_35"}
# Programs of others whose options our texts name.
FOREIGN = re.compile(r"\b(pip|cmake|ninja|git|apt-get|pytest|ctest|perf|gdb|nvcc|ldd|ruff)\b")
SOURCES = (".cpp", ".h", ".cuh", ".py", ".def", ".cmake", ".txt", ".fbs", ".toml", ".js")


@lru_cache
def tracked() -> tuple[str, ...]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return tuple(name for name in names if (ROOT / name).is_file())


@lru_cache
def code() -> str:
    """All program text: what a documented variable or option has to stand in."""
    parts = [(ROOT / name).read_text(encoding="utf-8", errors="replace") for name in tracked()
             if (name.endswith(SOURCES) or name == "dev") and not name.startswith("docs/") and not name.endswith(("check_docs.py", "test_docs_check.py"))]
    return "\n".join(parts)


def words(text: str, pattern: re.Pattern) -> set[str]:
    return set(pattern.findall(text))


@lru_cache
def known_variables() -> set[str]:
    return words(code(), VARIABLE)


@lru_cache
def known_options() -> set[str]:
    return words(code(), re.compile(r"(--[a-z][\w-]+)")) | {"--help", "--version"}


@lru_cache
def dev_commands() -> set[str]:
    text = (ROOT / "scripts/dev/cli.py").read_text(encoding="utf-8")
    return words(text, re.compile(r'command\(\s*"([a-z]+)"'))


@lru_cache
def tool_commands() -> set[str]:
    return words(code(), re.compile(r'add_subcommand\(\s*"([a-z]+)"'))


def exists(path: str) -> bool:
    """True if a tracked file or folder has that path; "<name>", "NAME" and "*" stand for any text, "{a,b}" for each of its parts."""
    braces = re.search(r"\{([^{}]*)\}", path)
    if braces:
        return all(exists(path[: braces.start()] + part + path[braces.end() :]) for part in braces.group(1).split(","))
    path = path.rstrip("/")
    pattern = re.sub(r"<[^<>]*>|\\\*|NAME", "[^/]*", re.escape(path).replace(r"\<", "<").replace(r"\>", ">"))
    # A path without suffix is a folder, a file of any suffix, or the number of a decision.
    return any(re.match(pattern + r"(?:[/._-].*)?$", name) for name in tracked())


def line_of(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def found_in(text: str, pattern: re.Pattern):
    """Each match once, with the line of its first place."""
    first: dict[str, int] = {}
    for match in pattern.finditer(text):
        first.setdefault(match.group(1), line_of(text, match.start(1)))
    return sorted(first.items(), key=lambda item: (item[1], item[0]))


def offences_in_text(name: str, text: str):
    for path, line in found_in(text, PATH):
        if not exists(path.rstrip(".,")):
            yield f"{name}:{line}: names {path}, which does not exist"
    for tool, pattern, commands in (("./dev", DEV, dev_commands()), ("torchtrtc", TOOL, tool_commands())):
        for command, line in found_in(text, pattern):
            if command not in commands:
                yield f"{name}:{line}: names {tool} {command}, which is no command"
    for variable, line in found_in(text, VARIABLE):
        if variable not in known_variables():
            yield f"{name}:{line}: names the variable {variable}, which no program reads"
    for number, line in found_in(text, DECISION):
        if not list((ROOT / "docs/decisions").glob(f"{number}-*.md")):
            yield f"{name}:{line}: names decision {number}, which does not exist"
    yield from offences_in_options(name, text)
    if not name.startswith("docs/decisions/"):  # these tell of earlier code, too
        yield from offences_in_symbols(name, text)


def offences_in_options(name: str, text: str):
    for number, line in enumerate(text.splitlines(), 1):
        if not FOREIGN.search(line):
            for option in sorted(words(line, OPTION) - known_options()):
                yield f"{name}:{number}: names the option {option}, which no program has"


def is_symbol(text: str) -> bool:
    """True if a word in backticks can only be a name: it has qualifiers of the project, an underscore, or capitals inside."""
    if "." in text:
        return text.startswith("torchtrt.")
    return "::" in text or "_" in text or bool(re.search(r"[a-z][A-Z]", text))


def offences_in_symbols(name: str, text: str):
    seen: set[str] = set()
    for span in INLINE.finditer(text):
        for match in SYMBOL.finditer(span.group(1)):
            symbol = match.group(1)
            if is_symbol(symbol) and symbol not in seen | FOREIGN_SYMBOLS and not is_known(symbol):
                seen.add(symbol)
                yield f"{name}:{line_of(text, span.start())}: names the symbol {symbol}, which no code has"


@lru_cache
def known_words() -> set[str]:
    """All words of the code, and the names of files, folders and test programs."""
    parts = {part for name in tracked() for part in re.split(r"[/.]", name)}
    return set(re.findall(r"\w+", code())) | parts | {f"test_{part}" for part in parts}


def is_known(symbol: str) -> bool:
    if symbol.startswith("torchtrt."):
        return is_python_name(symbol.split(".")[1:])
    return all(part in known_words() for part in symbol.split("::"))


@lru_cache
def defined_in(file: Path) -> frozenset[str]:
    """Names at the top of a Python file, those that it imports and lists as texts among them."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update(each.asname or each.name for each in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            names.add(node.value)
    return frozenset(names)


@lru_cache
def members(of: str) -> frozenset[str] | None:
    """Names within a class of the package, or of its stub; None if it has no class of that name."""
    found: set[str] = set()
    is_class = False
    for file in sorted([*(ROOT / "python/torchtrt").rglob("*.py"), *(ROOT / "python/torchtrt").rglob("*.pyi")]):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and node.name == of:
                is_class = True
                found.update(each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute))
                found.update(each.name for each in node.body if isinstance(each, (ast.FunctionDef, ast.ClassDef)))
                found.update(each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
    return frozenset(found) if is_class else None


def is_python_name(parts: list[str]) -> bool:
    """True if torchtrt has this name: modules, then a name of the last one, then members as long as it is a class."""
    place = ROOT / "python/torchtrt"
    while parts and (place / parts[0]).is_dir():
        place, parts = place / parts[0], parts[1:]
    if parts and (place / f"{parts[0]}.py").is_file():
        files, parts = [place / f"{parts[0]}.py"], parts[1:]
    else:
        files = sorted(place.glob("*.py" if place.name == "functional" else "__init__.py*"))
    if parts and not any(parts[0] in defined_in(file) for file in files):
        return parts[0] == "__version__"
    for owner, member in zip(parts, parts[1:]):
        names = members(owner)
        if names is None:
            return True
        if member not in names and member != "__name__":
            return False
    return True


def offences_in_page(name: str, text: str):
    folder = (ROOT / name).parent
    prose = re.sub(r"```.*?```|`[^`]*`|^    .*$", blank, text, flags=re.DOTALL | re.MULTILINE)
    for target, line in found_in(prose, LINK):
        if "://" not in target and not (folder / target).exists():
            yield f"{name}:{line}: links to {target}, which does not exist"


def blank(match: re.Match) -> str:
    """Takes the place of a part that is left out, so that lines keep their numbers."""
    return "\n" * match.group().count("\n")


def offences_in_table(readme: Path):
    """A README has to list all files of its folder if it has a table headed "file", or one with most of them."""
    stems = {path.stem for path in readme.parent.glob("*.cpp")}
    text = readme.read_text(encoding="utf-8")
    rows = TABLE_ROW.findall(text)
    first = line_of(text, text.find(rows[0])) if rows else 1
    listed = {re.sub(r"\.[\w*]+$", "", word.rpartition("/")[2]) for row in rows for word in re.findall(r"`([^`]+)`", row)}
    missing = {stem for stem in stems if not any(fnmatch.fnmatch(stem, word) for word in listed)}
    if "| file |" in text or len(missing) * 2 < len(stems):
        for stem in sorted(missing):
            yield f"{readme.relative_to(ROOT)}:{first}: its table has no row for {stem}.cpp"


def offences_of_page(name: str, text: str):
    yield from offences_in_text(name, text)
    yield from offences_in_page(name, text)


def offences():
    for name in tracked():
        path = ROOT / name
        if name.endswith(".md"):
            text = path.read_text(encoding="utf-8")
            yield from offences_of_page(name, text)
            if name.startswith("src/") and path.name == "README.md":
                yield from offences_in_table(path)
        elif name.endswith((".h", ".cpp", ".def")) or path.name == "CMakeLists.txt":
            comments = "\n".join(COMMENT.findall(path.read_text(encoding="utf-8")))
            yield from offences_in_text(name, comments)


def main() -> int:
    found = list(offences())
    for line in found:
        print(line)
    if not found:
        print(f"documentation: {len(tracked())} files looked at")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
