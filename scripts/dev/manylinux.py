"""Finds the platform tag of a wheel as auditwheel does: the oldest manylinux whose systems have all that its binaries ask the loader for."""

import platform
import re
import subprocess
from dataclasses import dataclass

from .common import Failure

# Libraries that PEP 600 takes to be on every system.
SYSTEM = {
    "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libm.so.6", "libpthread.so.0", "librt.so.1",
    "libstdc++.so.6"}
# Libraries of the torch that the wheel requires, libgomp among them.
TORCH = re.compile(r"(libtorch(_cpu|_python)?|libc10|libgomp(-\w+)?)\.so(\.1)?")
# The minor release of glibc, and the newest symbol version that systems with it have in GCC's libraries.
GCC_LIBRARIES = {
    "GLIBCXX": [(17, (3, 4, 19)), (24, (3, 4, 22)), (28, (3, 4, 24)), (31, (3, 4, 28)), (34, (3, 4, 29)), (35, (3, 4, 30)), (38, (3, 4, 32))],
    "CXXABI": [(17, (1, 3, 7)), (24, (1, 3, 10)), (28, (1, 3, 11)), (31, (1, 3, 12)), (34, (1, 3, 13)), (38, (1, 3, 14))],
    "GCC": [(17, (4, 8, 0)), (28, (7, 0, 0))],
}


@dataclass
class Demands:
    """Lists what one binary asks the loader for."""

    libraries: list[str]
    versions: list[str]  # as in GLIBC_2.34


def demands(binary) -> Demands:
    listing = subprocess.run(["objdump", "-p", binary], capture_output=True, text=True, check=True).stdout
    wanted = listing.partition("Version References:")[2].partition("\n\n")[0]
    return Demands(re.findall(r"^\s+NEEDED\s+(\S+)$", listing, re.MULTILINE), re.findall(r"^\s+0x\w+ 0x\w+ \d+ (\S+)$", wanted, re.MULTILINE))


def glibc_minor(version: str) -> int:
    """The minor release of glibc 2 from which on systems have a symbol version; 0 where any has. A Failure where none is known to."""
    name, _, numbers = version.rpartition("_")
    if not re.fullmatch(r"[\d.]+", numbers):
        raise Failure(f"the symbol version {version} is bound to one system's glibc")
    wanted = tuple(int(part) for part in numbers.split("."))
    if name == "GLIBC":
        return wanted[1]
    for minor, newest in GCC_LIBRARIES.get(name, [(0, wanted)]):
        if wanted <= newest:
            return minor
    raise Failure(f"no glibc is known whose systems have the symbol version {version}")


def platform_tag(binaries) -> str:
    """manylinux_2_35_x86_64 for binaries that all systems with glibc 2.35 can load. A Failure names a library that they may lack."""
    own = {binary.name for binary in binaries}
    minor = 17  # older systems have no Python that the wheels are for
    for binary in binaries:
        found = demands(binary)
        missing = [name for name in found.libraries if name not in own | SYSTEM and not TORCH.fullmatch(name)]
        if missing:
            raise Failure(f"{binary.name} needs {missing[0]}, which is neither in the wheel nor in torch nor on every system")
        minor = max([minor, *(glibc_minor(version) for version in found.versions)])
    return f"manylinux_2_{minor}_{platform.machine()}"
