// What this test program takes with new: counted, and refused where a test asks for that.
#pragma once

#include <cstdint>

namespace torchtrt::testing {

// By all threads, so far.
int64_t allocations();
// One of this thread's allocations to come fails, behind `before` that do not. Negative: none does.
void refuseAllocation(int64_t before);
// What is left of `before`; negative where the one has failed.
int64_t allocationsBeforeRefusal();

}  // namespace torchtrt::testing
