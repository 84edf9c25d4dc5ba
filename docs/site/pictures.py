"""Mermaid blocks of pages become pictures that are drawn once and kept: the site needs no network and no script to show them.

    python pictures.py

draws those that are missing into pictures/, with Chromium and the Mermaid of the package nicegui. A picture's name is a hash of its source.
"""

import functools
import hashlib
import html
import http.server
import importlib.util
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import contents

FOLDER = Path(__file__).parent / "pictures"
BLOCK = re.compile(r"^```mermaid\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Colours that a filter turns into those of a dark page: style.css. Text is SVG's own, which browsers draw in images, too.
SETTINGS = """{startOnLoad: false, theme: "neutral", htmlLabels: false, flowchart: {htmlLabels: false}, fontFamily: "sans-serif",
deterministicIds: true}"""
CHROMIUM = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=30000", "--dump-dom"]
PAGE = """<!doctype html><meta charset="utf-8"><body><pre id="source">{source}</pre><div id="picture"></div><script type="module">
import {{ mermaid }} from "./index.js";
mermaid.initialize({settings});
const drawn = await mermaid.render("drawing", document.getElementById("source").textContent);
document.getElementById("picture").innerHTML = drawn.svg;
document.getElementById("picture").dataset.done = new XMLSerializer().serializeToString(document.querySelector("#picture svg"));
</script>"""


def name(source: str) -> str:
    return hashlib.sha256(source.strip().encode()).hexdigest()[:12] + ".svg"


def sources() -> dict[str, str]:
    """Name of the picture -> source, of every page of the site."""
    return {name(source): source for page in contents.pages() for source in BLOCK.findall(contents.read(page))}


class _Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript"}

    def log_message(self, *_):
        pass


def rounded(svg: str) -> str:
    """Hundredths of a pixel are enough, in a third of the bytes."""
    return re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number.group()):.2f}", svg)


def draw(source: str) -> str:
    mermaid = Path(importlib.util.find_spec("nicegui").origin).parent / "elements" / "mermaid" / "dist"
    with tempfile.TemporaryDirectory() as folder:
        for file in mermaid.iterdir():
            (Path(folder) / file.name).symlink_to(file)
        (Path(folder) / "page.html").write_text(PAGE.format(source=html.escape(source), settings=SETTINGS), encoding="utf-8")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with server:
            command = [*CHROMIUM, f"--user-data-dir={folder}/profile", f"http://127.0.0.1:{server.server_port}/page.html"]
            dom = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
            server.shutdown()
    found = re.search(r'data-done="([^"]*)"', dom)
    if not found:
        raise SystemExit(f"Mermaid did not draw:\n{source}\n{dom[-2000:]}")
    svg = rounded(html.unescape(found.group(1)))
    # The drawing's own size, so that a narrow screen scrolls it and does not shrink it.
    _, _, width, height = re.search(r'viewBox="([-\d. ]+)"', svg).group(1).split()
    return re.sub(r'width="100%"', f'width="{float(width):.0f}" height="{float(height):.0f}"', svg, count=1) + "\n"


def draw_missing() -> None:
    FOLDER.mkdir(exist_ok=True)
    wanted = sources()
    for file in FOLDER.glob("*.svg"):
        if file.name not in wanted:
            file.unlink()
    for file, source in wanted.items():
        if not (FOLDER / file).exists():
            (FOLDER / file).write_text(draw(source), encoding="utf-8")
            print(f"drew {file}", flush=True)


def place(app, doctree) -> None:
    """Sphinx's part: an image in the place of each block."""
    from docutils import nodes
    from sphinx.util import logging

    docname = app.env.docname
    for block in list(doctree.findall(nodes.literal_block)):
        if block.get("language") != "mermaid":
            continue
        file = name(block.astext())
        if not (FOLDER / file).exists():
            logging.getLogger(__name__).warning("a mermaid block has no picture; draw it with ./dev docs --pictures", location=block)
        section = next((each for each in _parents(block) if isinstance(each, nodes.section)), None)
        title = section.next_node(nodes.title).astext() if section is not None else "the page"
        place = "../" * docname.count("/") + f"_static/pictures/{file}"
        image = f'<div class="picture"><img src="{place}" alt="Picture of {html.escape(title)}" loading="lazy"/></div>'
        block.replace_self(nodes.raw("", image, format="html"))


def _parents(node):
    while node.parent is not None:
        node = node.parent
        yield node


if __name__ == "__main__":
    draw_missing()
    sys.exit(0)
