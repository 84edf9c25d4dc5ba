// Cases of which the CPU's reference says what is right.
#pragma once

#include <vector>

#include "cpu/harness.h"

namespace torchtrt::kernels::testing {

// The results of the CPU's reference, row-major.
std::vector<Values> referenceOf(const Case& layer);
// Every implementation on the device, in every layout, against the CPU's reference.
void expectAsOnCpu(const Case& layer, double tolerance = -1);
// The first implementation, row-major and bit by bit: for cases that take the emulation seconds.
void expectBitsAsOnCpu(const Case& layer);
// True if the first implementation on the device is not the CPU's with copies.
bool hasDeviceCode(const Case& layer);

}  // namespace torchtrt::kernels::testing
