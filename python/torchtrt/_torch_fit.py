"""Compares the torch that the libraries were built for with the one that is here. Imports nothing of either, so that torchtrtc may run it."""

import pathlib

# The build writes the version of torchtrt and that of torch here, beside the libraries.
VERSIONS = pathlib.Path(__file__).parent / "lib" / "versions"


def problem(found: str, versions: pathlib.Path = VERSIONS) -> str:
    """One line that says how to get a pair that fits; empty where torch fits, as all patch releases of one minor release do."""
    if not versions.exists():
        return ""
    ours, built_for = versions.read_text(encoding="utf-8").split()
    built, here = (".".join(each.partition("+")[0].split(".")[:2]) for each in (built_for, found))
    if built == here:
        return ""
    return (f"torchtrt {ours} was built for torch {built}, found {here}: pip install \"torch=={built}.*\", "
            f"or the wheel torchtrt {ours}+pt{here.replace('.', '')}")
