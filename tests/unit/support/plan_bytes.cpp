#include "support/plan_bytes.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/align.h"
#include "support/engine_call.h"
#include "support/plan_changes.h"
#include "support/plan_checksum.h"

namespace torchtrt::testing {

std::string writtenPlan(const plan::Plan& plan) {
  const bool has_weights = plan.weights.empty() || plan.weights.front().data != nullptr;
  return has_weights ? plan::serialize(plan) : plan::serializeWithoutWeights(plan);
}

std::string changedPlanBytes(std::string_view bytes, uint64_t seed) {
  const std::string copy(bytes);
  try {
    plan::Plan plan = plan::parse(bytesOf(copy), nullptr);
    if (plan.tensors.empty() || plan.steps.empty() || plan.program.empty()) {
      return "";
    }
    return writtenPlan(changedPlan(std::move(plan), seed));
  } catch (const EngineError&) {
    return "";
  }
}

void mendPlanBytes(std::string& bytes) {
  constexpr char kStart[] = {'T', 'T', 'R', 'T', 'P', 'L', 'A', 'N', 1, 0};  // and the major version
  constexpr size_t kGraphBytes = 16;                                         // places in the header
  constexpr size_t kWeightBytes = 24;
  if (bytes.size() < kPlanHeader) {
    bytes.resize(kPlanHeader);
  }
  std::copy(std::begin(kStart), std::end(kStart), bytes.begin());
  uint64_t graph = 0;
  uint64_t weights = 0;
  std::memcpy(&graph, bytes.data() + kGraphBytes, sizeof graph);
  std::memcpy(&weights, bytes.data() + kWeightBytes, sizeof weights);
  const uint64_t rest = bytes.size() - kPlanHeader;
  if (graph > rest || weights > rest || alignUp(kPlanHeader + graph) + weights != bytes.size()) {
    weights = 0;
    std::memcpy(bytes.data() + kGraphBytes, &rest, sizeof rest);
    std::memcpy(bytes.data() + kWeightBytes, &weights, sizeof weights);
  }
  mendChecksum(bytes);
}

}  // namespace torchtrt::testing
