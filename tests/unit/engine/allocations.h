// Counts the allocations of this test program by new, and refuses one where a test asks for that.
#pragma once

#include <cstdint>

namespace torchtrt::testing {

// Returns the allocations of all threads so far.
int64_t allocations();
// One of this thread's allocations to come fails, behind `before` that do not. Negative: none does.
void refuseAllocation(int64_t before);
// Returns how many of `before` are left; negative if the allocation has failed.
int64_t allocationsBeforeRefusal();

}  // namespace torchtrt::testing
