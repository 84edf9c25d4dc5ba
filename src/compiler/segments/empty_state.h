// Engines are for the state that later calls find. Where the first one finds an empty tensor in its place, an engine
// does for it, too, if zeros give it the same: what is computed then is asked of the graph, not of numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "conversion/conversion.h"
#include "partitioning/observation.h"
#include "partitioning/partition.h"
#include "plan/plan.h"

namespace torchtrt::compiler {

// Dims of empty tensors, by number of the engine's input.
using EmptyInputs = std::map<size_t, std::vector<int64_t>>;

// Those that first calls give the segment, in the place of what `request` says, where the segment computes of them all
// what it computes of zeros: both are the same plan. Empty where it does not.
EmptyInputs emptyInputs(const partitioning::Segment& segment, const conversion::ConversionRequest& request,
                        const partitioning::Observations& first_calls);

}  // namespace torchtrt::compiler
