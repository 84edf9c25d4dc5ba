// Tells which layers have no kernel on a GPU. They would run on the host, with copies: PyTorch is faster.
#pragma once

#include <optional>

#include "torchtrt/error.h"
#include "torchtrt/network.h"

namespace torchtrt::compiler {

// Needs no GPU. Nothing where the kernels for GPUs are not installed, and for plugins of users, which PyTorch may not
// run on a GPU either.
std::optional<Refusal> refusalWithoutKernel(const network::Layer& layer);

}  // namespace torchtrt::compiler
