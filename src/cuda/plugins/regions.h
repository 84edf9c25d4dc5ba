// What the plugins that read regions of images share.
#pragma once

#include "torchtrt/types.h"

namespace torchtrt::cuda {

// The type of device code in which torchvision computes: in float16 it rounds every step.
const char* regionNumber(DType dtype);

}  // namespace torchtrt::cuda
