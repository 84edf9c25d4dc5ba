// The backend "deferred": every kernel of the CPU, run by the queue of a DeferredDevice. Nothing of it is fused, since
// fusion rules are the CPU's.
#pragma once

#include "support/deferred_device.h"

namespace torchtrt::testing {

// The device that LoadOptions::device = "deferred" names from now on. Never destroyed.
const DeferredDevice& deferredDevice();

}  // namespace torchtrt::testing
