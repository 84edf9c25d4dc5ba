"""Builds the documentation's site: the product for its references and tutorials, Sphinx's environment, then docs/site/build.py."""

import os

from . import building, machine, testing
from .common import ROOT, run, say

SITE = ROOT / "docs" / "site"


def build(preset: str, without_tutorials: bool, pictures: bool) -> None:
    interpreter = machine.make_docs() / "bin" / "python"
    if pictures:
        machine.install_packages(machine.BROWSER_PACKAGES)
        run([interpreter, SITE / "pictures.py"], "drawing pictures", cwd=ROOT, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        return
    building.build(preset, ["product"])
    say("building the site")
    variables = testing.environment(preset)
    run([interpreter, SITE / "build.py", *(["--without-tutorials"] if without_tutorials else [])], "the site", cwd=ROOT, env=variables)
