// The machine code that a plan has, and the device that the plan is loaded on.
#pragma once

#include <memory>

#include "device/device.h"
#include "plan/plan.h"

namespace torchtrt::engine {

// Gives the device the binaries that are whole and of its architecture, for as long as the result lives; null if there
// are none. The plan keeps their sizes alone.
std::shared_ptr<const void> offerBinaries(plan::Plan& plan, const device::Device& device);

}  // namespace torchtrt::engine
