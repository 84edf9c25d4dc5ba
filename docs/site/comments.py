"""Doxygen's input filter for include/: the headers' plain comments become documentation. Standard library only.

    python comments.py HEADER

A comment above a declaration, or behind it on its line, documents it. The comment that a header begins with documents the file.
"""

import itertools
import re
import sys
from pathlib import Path

LINE = re.compile(r"^(\s*)//(?!/)\s?(.*)$")
TRAILING = re.compile(r"^(.*\S.*?)\s+//(?![/:])\s?(.*)$")
NO_LINT = re.compile(r"NOLINT(NEXTLINE)?(\([^)]*\))?:?\s*")
SPECIAL = re.compile(r"([\\@<>#%&$|])")
CODE_INDENT = "   "
UNDOCUMENTED = ("}", "#include", "#pragma", "#if", "#endif")  # a comment in front of these is about a group of declarations


def literal(text: str) -> str:
    return SPECIAL.sub(r"\\\1", text)


def escaped(text: str) -> str:
    parts = re.split(r"`([^`]+)`", text)
    return "".join(f"<code>{literal(part)}</code>" if i % 2 else literal(part) for i, part in enumerate(parts))


def documented(lines: list[str]) -> list[str]:
    """The text of a comment in Doxygen's form: lines that are indented are code, of C++ if statements are among them."""
    result: list[str] = []
    for is_code, group in itertools.groupby(lines, key=lambda line: line.startswith(CODE_INDENT)):
        part = list(group)
        if not is_code:
            result += [escaped(line) for line in part]
        elif any(line.rstrip().endswith((";", "{")) for line in part):
            result += ["\\code{.cpp}", *part, "\\endcode"]
        else:
            result += ["\\verbatim", *part, "\\endverbatim"]
    return result


def filtered(text: str) -> str:
    lines, result, i, trailing_column = text.splitlines(), [], 0, None
    is_first = True
    while i < len(lines):
        if LINE.match(lines[i]):
            end = i
            while end < len(lines) and LINE.match(lines[end]):
                end += 1
            indent = LINE.match(lines[i]).group(1)
            block = [NO_LINT.sub("", LINE.match(line).group(2)) for line in lines[i:end]]
            if trailing_column is not None and len(indent) == trailing_column:
                result += [f"{indent}///< {escaped(line)}" for line in block]
            elif is_first:
                result += ["/** \\file", *documented(block), "*/"]
            elif end < len(lines) and lines[end].strip() and not lines[end].lstrip().startswith(UNDOCUMENTED):
                result += [f"{indent}/**", *documented(block), f"{indent}*/"]
            else:
                result += lines[i:end]
            is_first = False
            i = end
            trailing_column = None
            continue
        is_first = is_first and not lines[i].strip()
        trailing = TRAILING.match(lines[i])
        trailing_column = None
        # A string literal may hold the two strokes; braces that close or open a body document nothing.
        if trailing and trailing.group(1).count('"') % 2 == 0 and not trailing.group(1).rstrip().endswith(("{", "}", "\\")):
            note = NO_LINT.sub("", trailing.group(2))
            trailing_column = lines[i].index("//", len(trailing.group(1)))
            result.append(f"{trailing.group(1)}  ///< {escaped(note)}" if note else trailing.group(1))
        else:
            result.append(lines[i])
        i += 1
    return "\n".join(result) + "\n"


if __name__ == "__main__":
    sys.stdout.write(filtered(Path(sys.argv[1]).read_text(encoding="utf-8")))
