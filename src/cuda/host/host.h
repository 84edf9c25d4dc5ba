// The last implementation of every family: the CPU's kernel, with copies from and to the device. It takes every problem
// and waits for its stream.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::cuda {

kernels::CreateResult createHost(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
