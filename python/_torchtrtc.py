"""The command torchtrtc of an installed wheel: starts torchtrt/bin/torchtrtc with libtorch within its reach.

It is beside the package, because importing torchtrt would import torch, which takes longer than most commands.
"""

import importlib.util
import os
import pathlib
import sys


def main() -> None:
    program = pathlib.Path(__file__).parent / "torchtrt" / "bin" / "torchtrtc"
    torch = importlib.util.find_spec("torch")
    if torch is None or not torch.submodule_search_locations:
        sys.exit("torchtrtc: needs torch 2.11, and there is none\n  install it: a CPU build is enough")
    # The program looks for torch beside torchtrt; it may be in another folder of sys.path.
    folders = [os.path.join(torch.submodule_search_locations[0], "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
    os.environ["LD_LIBRARY_PATH"] = ":".join(folder for folder in folders if folder)
    os.execv(program, ["torchtrtc", *sys.argv[1:]])
