// Makes a compile's Report of the partition, the engines and the clock.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/phase_clock.h"
#include "compiler/segments/segment_engines.h"
#include "partitioning/partition.h"
#include "torchtrt/compile.h"

namespace torchtrt::compiler {

// "aten::relu # model.py:5:8 (layer1.0)".
std::string describe(const torch::jit::Node& node);

// Returns the share of the nodes' time that is in engines, 0 to 1; nothing without any.
std::optional<double> shareOfTime(const partitioning::Partition& partition,
                                  const std::unordered_map<const torch::jit::Node*, double>& seconds);

Report reportOf(const std::string& what, const partitioning::Partition& partition,
                const std::vector<SegmentEngine>& engines, const PhaseClock& clock);

}  // namespace torchtrt::compiler
