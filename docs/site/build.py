"""Builds the site in build/docs: gathers pages, runs Doxygen and Sphinx, checks links, counts. `./dev docs` runs it in the environment of
requirements-docs.txt, with the built package in reach.

    python docs/site/build.py [--without-tutorials]

Fails with exit code 1 on a warning, a broken link, or a tutorial that does not run to its end.
"""

import argparse
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import contents
import links
import stubs
import tutorials

ROOT = contents.ROOT
HERE = Path(__file__).parent
BUILD = ROOT / "build" / "docs"
SOURCE, HTML, STATIC = BUILD / "source", BUILD / "html", BUILD / "static"
# The commands of torchtrtc that its page shows; "compile" is the one without a name.
COMMANDS = re.findall(r"literalinclude:: torchtrtc/(\w+)\.txt", contents.read("docs/api/torchtrtc.rst"))
INTERNAL = ["cxx17.h"]  # included by export.h alone, whose words it defines a second time
# Classes that stubs describe and only the extension has.
RESULTS = ["Report", "Profile", "Verification", "CompileProgress"]
REDIRECT = """<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={place}">
<title>torchtrt</title><a href="{place}">torchtrt</a>
"""
HEADER = """{name}
{line}

.. code-block:: cpp

   #include "{name}"

.. doxygenfile:: {file}
   :sections: {sections}
"""
# Parts of a class or namespace that its page shows; private ones are not among them.
SECTIONS = """briefdescription detaileddescription innerclass innernamespace enum typedef func var define public-type public-attrib public-func
public-static-attrib public-static-func"""


def say(text: str) -> None:
    print(text, flush=True)


def write(path: Path, text: str) -> None:
    """Leaves a file of the same content alone, since Sphinx reads what is newer."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def gather() -> None:
    """Fills the source folder: pages and what they link to at their paths, the programs, and pages that are made here."""
    wanted = set(contents.pages()) | set(contents.tracked(".rst"))
    for page in list(wanted):
        wanted |= {path for path in contents.linked(page) if (ROOT / path).is_file()} if page.endswith(".md") else set()
    wanted |= {name for name in contents.tracked("") if name.startswith("examples/")}
    for name in wanted:
        target = SOURCE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.stat().st_mtime < (ROOT / name).stat().st_mtime:
            shutil.copyfile(ROOT / name, target)
    (SOURCE / tutorials.README).unlink(missing_ok=True)  # the gallery's own first page replaces it
    write(SOURCE / contents.TUTORIALS / "GALLERY_HEADER.rst", tutorials.header())
    write(SOURCE / "docs/api/results.rst.txt", stubs.classes(RESULTS))
    write_headers()
    write_helps()
    for note in (SOURCE / contents.GALLERY).glob("*.cost.json"):
        note.unlink()  # of the run before
    shutil.rmtree(STATIC, ignore_errors=True)
    shutil.copytree(HERE / "pictures", STATIC / "pictures")


def write_headers() -> None:
    """A page for each public header of torchtrt, under its first comment."""
    for header in sorted((ROOT / "include" / "torchtrt").glob("*.h")):
        if header.name in INTERNAL:
            continue
        name = f"torchtrt/{header.name}"
        text = HEADER.format(name=name, line="=" * len(name), file=header.name, sections=" ".join(SECTIONS.split()))
        write(SOURCE / f"docs/api/cpp/{header.stem}.rst", text)


def write_helps() -> None:
    """What every command of torchtrtc prints about itself."""
    for command in COMMANDS:
        words = [] if command == "compile" else [command]
        text = subprocess.run(["torchtrtc", *words, "--help"], capture_output=True, text=True, check=True).stdout
        write(SOURCE / f"docs/api/torchtrtc/{command}.txt", text)


def run_doxygen() -> None:
    settings = (HERE / "Doxyfile").read_text(encoding="utf-8")
    settings += f"""
INPUT = {ROOT}/include/torchtrt
INCLUDE_PATH = {ROOT}/include
STRIP_FROM_PATH = {ROOT}/include
STRIP_FROM_INC_PATH = {ROOT}/include
OUTPUT_DIRECTORY = {BUILD}/doxygen
INPUT_FILTER = "{sys.executable} {HERE}/comments.py"
"""
    BUILD.mkdir(parents=True, exist_ok=True)
    process = subprocess.run(["doxygen", "-"], input=settings, capture_output=True, text=True, check=False)
    if process.returncode != 0:
        raise SystemExit(f"doxygen failed:\n{process.stderr}")


class _Both(io.StringIO):
    """Keeps what is written, and shows it."""

    def write(self, text):
        sys.stderr.write(text)
        sys.stderr.flush()
        return super().write(text)


def run_sphinx(jobs: int) -> list[str]:
    """The warnings."""
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    warnings = _Both()
    with patch_docutils(str(HERE)), docutils_namespace():
        app = Sphinx(SOURCE, HERE, HTML, BUILD / "doctrees", "html", status=None, warning=warnings, parallel=jobs)
        app.build()
    write(HTML / "index.html", REDIRECT.format(place=f"{app.config.root_doc}.html"))
    plain = re.sub(r"\x1b\[[0-9;]*m", "", warnings.getvalue())
    return [line for line in plain.splitlines() if re.search(r"\b(WARNING|ERROR|CRITICAL)\b", line)]


def count_tutorials(warnings: list[str]) -> tuple[int, float]:
    """How many tutorials ran to their end, and the seconds of all; sphinx-gallery notes the time of each."""
    seconds = [json.loads(path.read_text(encoding="utf-8"))["time"] for path in (SOURCE / contents.GALLERY).glob("*.cost.json")]
    failed = sum("sphinx_gallery" in line for line in warnings)
    return len(seconds) - failed, sum(seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without-tutorials", action="store_true", help="write their pages without running them")
    options = parser.parse_args()
    begin = time.monotonic()
    os.environ["TORCHTRT_DOCS"] = str(BUILD)
    os.environ["TORCHTRT_TUTORIALS"] = "0" if options.without_tutorials else "1"
    version = subprocess.run(["torchtrtc", "--version"], capture_output=True, text=True, check=True).stdout
    os.environ["TORCHTRT_VERSION"] = re.search(r"\d+\.\d+\.\d+", version).group(0)
    gather()
    run_doxygen()
    warnings = run_sphinx(jobs=1)
    pages, count, broken = links.check(HTML)
    for line in broken:
        say(f"broken link: {line}")
    say(f"site: {pages} pages in {HTML.relative_to(ROOT)}, {time.monotonic() - begin:.0f} s")
    say(f"warnings: {len(warnings)}")
    say(f"links: {count} looked at, {len(broken)} broken")
    failed = bool(warnings or broken)
    if not options.without_tutorials:
        run, seconds = count_tutorials(warnings)
        say(f"tutorials run: {run} of {len(tutorials.ORDER)}, {seconds:.1f} s")
        failed |= run != len(tutorials.ORDER)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
