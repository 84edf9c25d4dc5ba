// The machine code that a plan has, and the device that the plan is loaded on.
#pragma once

#include <memory>

#include "device/device.h"
#include "plan/plan.h"

namespace torchtrt::engine {

// Gives the device what is whole and of its architecture, for as long as the result lives; null if that is nothing. The
// plan keeps the sizes alone.
std::shared_ptr<const void> offerBinaries(plan::Plan& plan, const device::Device& device);

}  // namespace torchtrt::engine
