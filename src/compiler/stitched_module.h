// The module that a compile gives: PyTorch's segments and the engines, stitched.
#pragma once

#include <optional>
#include <vector>

#include "compiler/module/expected_calls.h"
#include "compiler/segments/segment_engines.h"
#include "compiler/task.h"
#include "partitioning/partition.h"

namespace torchtrt::compiler {

// It shares nothing with the user's module.
torch::jit::Module moduleOf(const Task& task, const partitioning::Partition& partition,
                            const std::vector<SegmentEngine>& made, const std::optional<OtherCalls>& others);

}  // namespace torchtrt::compiler
