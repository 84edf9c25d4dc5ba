// Changes of plan bytes, for fuzzers that know nothing but bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plan/plan.h"

namespace torchtrt::testing {

// Returns the bytes of a plan, without weights if it was read without them.
std::string writtenPlan(const plan::Plan& plan);

// Returns another well-formed plan; "" where the bytes are none.
std::string changedPlanBytes(std::string_view bytes, uint64_t seed);
// Makes a header that says what the bytes are, with the right checksum. Weights of changed length go.
void mendPlanBytes(std::string& bytes);

}  // namespace torchtrt::testing
