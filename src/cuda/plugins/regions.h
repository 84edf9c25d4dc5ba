// The plugins that sample images share the type in which they compute.
#pragma once

#include "torchtrt/types.h"

namespace torchtrt::cuda {

// The type of device code in which torchvision computes: in float16 it rounds every step.
const char* regionNumber(DType dtype);

}  // namespace torchtrt::cuda
