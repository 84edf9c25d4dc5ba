"""The site's structure, read from the pages themselves. Standard library only.

The tables of docs/README.md are the index on a git host; here they become the navigation: a section is a caption, and the first column of a
row links to a page. The other pages of INDEXES list the pages below them in the same way.
"""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = "docs/README.md"
INDEXES = [HOME, "docs/errors/README.md", "docs/decisions/README.md", "src/README.md"]
TUTORIALS = "examples/tutorials"  # sphinx-gallery makes pages of its programs
GALLERY = "docs/tutorials"
LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\(([^)\s#]*)(#[^)\s]*)?\)")
ROW = re.compile(rf"^\|\s*{LINK.pattern}\s*\|", re.MULTILINE)
CODE = re.compile(r"^```.*?^```|^    .*?$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Entry:
    """A page in the navigation: the heading over its row, the text of its link, and its path from the repository's root."""

    section: str
    title: str
    page: str


def resolved(page: str, target: str) -> str:
    """The path of a link's target from the root: a folder means its README, and a tutorial the page that is made of it."""
    path = os.path.normpath(os.path.join(os.path.dirname(page), target))
    if (ROOT / path).is_dir():
        path = f"{path}/README.md"
    if path == f"{TUTORIALS}/README.md":
        return f"{GALLERY}/index.rst"
    if path.startswith(f"{TUTORIALS}/") and path.endswith(".py"):
        return f"{GALLERY}/{Path(path).stem}.rst"
    return path


def prose(text: str) -> str:
    """A page without code, which may look like links."""
    return CODE.sub("", text)


def entries(page: str, text: str) -> list[Entry]:
    found, section = [], ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:].strip()
        elif row := ROW.match(line):
            title, target = row.group(1), row.group(2)
            if "://" not in target:
                found.append(Entry(section, title.replace("`", ""), resolved(page, target)))
    return found


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def navigation() -> dict[str, list[Entry]]:
    """The entries of every index."""
    return {page: entries(page, read(page)) for page in INDEXES}


def tracked(suffix: str) -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in names if name.endswith(suffix) and (ROOT / name).is_file()]


def linked(page: str) -> list[str]:
    return [resolved(page, target) for _, target, _ in LINK.findall(prose(read(page))) if target and "://" not in target]


def pages() -> list[str]:
    """Every Markdown page that links lead to from the home page, in the order in which they are met."""
    found, waiting = [HOME], [HOME]
    while waiting:
        page = waiting.pop(0)
        for target in linked(page):
            if target.endswith(".md") and target not in found and (ROOT / target).is_file():
                found.append(target)
                waiting.append(target)
    return found


def in_navigation() -> set[str]:
    return {HOME} | {entry.page for listed in navigation().values() for entry in listed}


def with_toctree(page: str, text: str) -> str:
    """An index with hidden toctrees in front of its end; another page as it is, marked where no navigation leads to it."""
    if page not in INDEXES:
        return text if page in in_navigation() else f"---\norphan: true\n---\n\n{text}"
    listed = entries(page, text)
    parts = [text]
    for section in dict.fromkeys(entry.section for entry in listed):
        caption = f":caption: {section}\n" if page == HOME else ""
        lines = [f"{entry.title} </{entry.page.rpartition('.')[0]}>" for entry in listed if entry.section == section]
        parts.append(f"```{{toctree}}\n:hidden:\n{caption}\n" + "\n".join(lines) + "\n```\n")
    return "\n".join(parts)


def with_site_links(page: str, text: str) -> str:
    """Links to folders and tutorials lead to pages of the site. A link whose text is a file's name gets the page's title."""

    def changed(match: re.Match) -> str:
        title, target, anchor = match.group(1), match.group(2), match.group(3) or ""
        if not target or "://" in target:
            return match.group(0)
        path = resolved(page, target)
        title = "" if title.endswith(".md") and path.endswith(".md") and not anchor else title
        return f"[{title}]({os.path.relpath(path, os.path.dirname(page) or '.')}{anchor})"

    # Code stays as it is: only the parts between pieces of code are looked at.
    pieces, end = [], 0
    for code in re.finditer(r"^```.*?^```", text, re.MULTILINE | re.DOTALL):
        pieces += [LINK.sub(changed, text[end:code.start()]), code.group(0)]
        end = code.end()
    return "".join([*pieces, LINK.sub(changed, text[end:])])
