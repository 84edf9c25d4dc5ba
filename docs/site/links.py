"""Checks the links of a built site: every file and anchor of its own has to be there; addresses of others are looked at, not fetched.
Standard library only."""

import functools
import html.parser
import urllib.parse
from pathlib import Path


class _Page(html.parser.HTMLParser):
    def __init__(self, text: str):
        super().__init__()
        self.anchors, self.targets = {"", "top"}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value is not None:
                self.targets.append(value)


@functools.cache
def page(path: Path) -> _Page:
    return _Page(path.read_text(encoding="utf-8"))


def problem_of_address(target: str) -> str:
    """Empty for an address that could be one."""
    parts = urllib.parse.urlsplit(target)
    if parts.scheme == "mailto":
        return "" if "@" in parts.path else "no address of a person"
    if parts.scheme not in ("http", "https"):
        return "no scheme that a browser follows"
    return "" if "." in parts.netloc and not set(target) & set(" <>\"`") else "no address of a server"


def problem(root: Path, file: Path, target: str) -> str:
    if urllib.parse.urlsplit(target).scheme == "data":
        return ""
    if urllib.parse.urlsplit(target).scheme or target.startswith("//"):
        return problem_of_address(target)
    path, _, anchor = target.partition("#")
    path = urllib.parse.unquote(path.partition("?")[0])
    place = (file.parent / path).resolve() if path else file
    if place.is_dir():
        place /= "index.html"
    if not place.is_file():
        return "there is no such file"
    if not place.is_relative_to(root):
        return "it is outside of the site"
    if anchor and place.suffix == ".html" and urllib.parse.unquote(anchor) not in page(place).anchors:
        return "the page has no such anchor"
    return ""


def check(root: Path) -> tuple[int, int, list[str]]:
    """The numbers of pages and of links, and a line for each that is broken."""
    root = root.resolve()
    files = sorted(path for path in root.rglob("*.html") if "_static" not in path.parts)
    links, broken = 0, []
    for file in files:
        for target in page(file).targets:
            links += 1
            if found := problem(root, file, target):
                broken.append(f"{file.relative_to(root)}: {target}: {found}")
    return len(files), links, broken
