"""
A converter of your own
=======================

A converter turns an operator into layers of a network. This tutorial adds an operator that PyTorch does not have, sees
it run in PyTorch, and then writes the converter that brings it into the engine. It needs a C++ compiler and torchtrt's
headers.
"""

# %%
# The operator and its converter
# ------------------------------
# PyTorch runs the operator by the function below. A converter is found by the operator's schema. It gets the arguments,
# appends layers to ``ctx->net``, and names the tensor of each output. It refuses what it cannot convert, and the report
# gives that reason. The page "Add a converter" lists everything that it may use.

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import torch

import torchtrt

operators = torch.library.Library("tutorial", "DEF")
operators.define("sharpened(Tensor x, float scale=1.) -> Tensor")
operators.impl("sharpened", lambda x, scale=1.0: x * (x.abs() + scale), "CompositeExplicitAutograd")

CONVERTER = r"""
#include <torch/script.h>

#include "torchtrt/conversion.h"

namespace {
using torchtrt::conversion::ConversionCtx;

bool convert(ConversionCtx* ctx, const torch::jit::Node* n, torchtrt::conversion::args& args) {
  auto& x = *args[0].ITensor();
  if (!torchtrt::isFloating(x.getType())) {
    ctx->refuse("dtype", "only floating tensors are sharpened");
  }
  const auto dtype = torchtrt::conversion::util::toScalarType(x.getType());
  auto* scale = ctx->constant(at::scalar_tensor(args[1].unwrapToDouble(), dtype));
  auto* magnitude = ctx->net->addUnary(x, "abs")->getOutput(0);
  auto* factor = ctx->net->addElementWise(*magnitude, *scale, "sum")->getOutput(0);
  auto* product = ctx->net->addElementWise(x, *factor, "prod")->getOutput(0);
  ctx->AssociateValueAndTensor(n->outputs()[0], product);
  return true;
}

const auto kConverter = torchtrt::conversion::RegisterNodeConversionPatterns().pattern(
    {"tutorial::sharpened(Tensor x, float scale=1.) -> Tensor", convert});
}  // namespace
"""

# %%
# Without the converter
# ---------------------
# The operator runs in PyTorch, and cuts the graph into two engines.


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.ops.tutorial.sharpened(torch.relu(x), 0.5) + x * 2


script = torch.jit.script(Model().eval())
spec = torchtrt.Input(min_shape=[1, 8], opt_shape=[4, 8], max_shape=[16, 8])
before = torchtrt.compile(script, inputs=[spec], min_block_size=1)
for node in torchtrt.report(before).nodes:
    if "sharpened" in node.node:
        print(f"{node.target}: {node.reason}")

# %%
# Building a library
# ------------------
# ``TORCHTRT_PREFIX`` is the prefix of ``./dev install``. In the source tree, ``./dev`` sets ``TORCHTRT_BUILD``. The
# compiler cache makes the second run fast, because libtorch's headers take most of the time.

folder = Path(tempfile.mkdtemp())
prefix, build = os.environ.get("TORCHTRT_PREFIX"), os.environ.get("TORCHTRT_BUILD")
if prefix is None and build is None:
    raise SystemExit("set TORCHTRT_PREFIX to the prefix of ./dev install: it has the headers")
include = Path(prefix) / "include" if prefix else Path(build).parents[1] / "include"
libraries = Path(prefix or build) / "lib"
libtorch = Path(torch.__file__).parent


(folder / "converter.cpp").write_text(CONVERTER)
compiler = (["ccache"] if shutil.which("ccache") else []) + ["c++"]
compile_command = [*compiler, "-std=c++20", "-O0", "-fPIC", f"-I{include}", f"-I{libtorch}/include",
                   f"-I{libtorch}/include/torch/csrc/api/include", "-c", "converter.cpp", "-o", "converter.o"]
link_command = ["c++", "-shared", "converter.o", "-o", "libconverter.so", f"-L{libraries}", f"-Wl,-rpath,{libraries}",
                "-ltorchtrt", "-ltorchtrt_network", "-ltorchtrt_engine", f"-L{libtorch}/lib", "-ltorch_cpu", "-lc10"]
for command in (compile_command, link_command):
    subprocess.run(command, cwd=folder, check=True)

# %%
# With the converter
# ------------------
# Loading the library registers the converter. ``torchtrtc`` takes the same library as ``--custom-converters``.

torch.ops.load_library(str(folder / "libconverter.so"))
after = torchtrt.compile(script, inputs=[spec], require_full_compilation=True)
print(torchtrt.report(after).summary())

x = torch.randn(5, 8)
with torch.inference_mode():
    torch.testing.assert_close(after(x), script(x))
print("results agree with PyTorch")
shutil.rmtree(folder)
