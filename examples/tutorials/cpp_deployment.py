"""
Deployment in C++ with CMake
============================

This tutorial compiles a model in Python and runs it in a C++ program. The program needs libtorch and one small library
of torchtrt: no Python and no compiler.
"""

# %%
# The file
# --------
# The compile happens once, on any machine.

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import torch

import torchtrt

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()).eval()
images = torchtrt.Input(min_shape=[1, 1, 32, 32], opt_shape=[4, 1, 32, 32], max_shape=[16, 1, 32, 32])
compiled = torchtrt.compile(torch.jit.script(model), inputs=[images])

folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "compiled.ts"
compiled.save(str(path))
print(f"{path.name}: {path.stat().st_size} bytes")

# %%
# The program
# -----------
# ``examples/cpp/load_and_run.cpp`` loads the file with ``torch::jit::load`` and calls it. Nothing in it names torchtrt.

here = Path(__file__).resolve().parent if "__file__" in globals() else Path.cwd()  # the site's builder runs it without a file
examples = here.parent / "cpp"
print((examples / "load_and_run.cpp").read_text())

# %%
# The CMake project
# -----------------
# ``find_package(torchtrt)`` finds what ``./dev install --prefix DIR`` installed. The target ``torchtrt::runtime`` is for deployment, and
# ``torchtrt::torchtrt`` has the compiler for C++ programs that call ``torchtrt::ts::compile``.

print((examples / "CMakeLists.txt").read_text())

# %%
# Build it with these commands::
#
#     ./dev install --prefix DIR
#     cmake -S examples/cpp -B build/examples -DCMAKE_PREFIX_PATH=DIR -DTORCHTRT_LIBTORCH=FOLDER
#     cmake --build build/examples
#
# ``./dev build product`` builds the same program as ``example_load_and_run``. This tutorial runs that one, because
# compiling libtorch's headers takes up to a minute.

program = shutil.which("example_load_and_run")
libraries = {**os.environ, "LD_LIBRARY_PATH": str(Path(torch.__file__).parent / "lib")}
if program is None:
    print("example_load_and_run is not on the PATH: build it with ./dev build product")
else:
    for batch in (1, 9):
        call = [program, str(path), str(batch), "1", "32", "32"]
        print(subprocess.run(call, env=libraries, capture_output=True, text=True, check=True).stdout, end="")

# %%
# Check a machine
# ---------------
# ``torchtrtc check`` says if a file loads on a machine, and names a library that is missing.

checker = shutil.which("torchtrtc")
if checker is not None:
    print(subprocess.run([checker, "check", str(path)], capture_output=True, text=True, check=True).stdout)

folder.cleanup()
