// The most that a GPU can do, measured: profiles compare kernels with it.
#pragma once

#include "cuda/device/cuda_device.h"
#include "kernels/limits.h"

namespace torchtrt::cuda {

kernels::Limits measureLimits(const CudaDevice& device);

}  // namespace torchtrt::cuda
