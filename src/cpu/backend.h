// The CPU's backend: its list of kernels, for this folder's own files and its tests. Others ask kernels/backend.h.
#pragma once

#include <vector>

#include "kernels/backend.h"
#include "torchtrt/export.h"

namespace torchtrt::kernels {

TORCHTRT_API const std::vector<Family>& families();  // families.cpp: the one list
TORCHTRT_API const Backend& cpuBackend();

}  // namespace torchtrt::kernels
