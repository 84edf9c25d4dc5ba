"""The command torchtrtc of an installed wheel: starts torchtrt/bin/torchtrtc with libtorch within its reach.

It is beside the package, because importing torchtrt would import torch, which takes longer than most commands.
"""

import importlib.util
import os
import pathlib
import re
import runpy
import sys


def main() -> None:
    package = pathlib.Path(__file__).parent / "torchtrt"
    torch = importlib.util.find_spec("torch")
    if torch is None or not torch.submodule_search_locations:
        sys.exit("torchtrtc: needs torch, and there is none\n  install what pip show torchtrt requires: a CPU build is enough")
    text = (pathlib.Path(torch.submodule_search_locations[0]) / "version.py").read_text(encoding="utf-8")
    version = re.search(r"__version__ = '([^']+)'", text)  # an import of torch takes a second
    problem = version and runpy.run_path(str(package / "_torch_fit.py"))["problem"](version.group(1))
    if problem:
        sys.exit(f"torchtrtc: {problem}")
    # The program looks for torch beside torchtrt; it may be in another folder of sys.path.
    folders = [os.path.join(torch.submodule_search_locations[0], "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
    os.environ["LD_LIBRARY_PATH"] = ":".join(folder for folder in folders if folder)
    os.environ.setdefault("TORCHTRT_PYTHON", sys.executable)  # compiles programs of torch.export
    os.execv(package / "bin" / "torchtrtc", ["torchtrtc", *sys.argv[1:]])
