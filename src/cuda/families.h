// The one list of this backend's kernels.
#pragma once

#include <vector>

#include "kernels/kernel.h"

namespace torchtrt::cuda {

const std::vector<kernels::Family>& families();

}  // namespace torchtrt::cuda
