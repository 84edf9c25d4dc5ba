// Turns a compile's options into those of its segments' engines.
#pragma once

#include <optional>

#include "compiler/module/expected_calls.h"
#include "compiler/phase_clock.h"
#include "compiler/segments/kernel_choice.h"
#include "compiler/segments/segment_engines.h"
#include "compiler/task.h"

namespace torchtrt::compiler {

// Optimization, then building, with the kernels that the timing cache says.
plan::Plan planOf(const network::Network& network, const Task& task, KernelChoice& kernels, PhaseClock& clock);

// `kernels` and `clock` have to outlive the options.
SegmentOptions segmentOptions(const Task& task, KernelChoice& kernels, PhaseClock& clock,
                              const std::optional<OtherCalls>& others = std::nullopt);

}  // namespace torchtrt::compiler
