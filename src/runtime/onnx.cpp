#include "runtime/onnx.h"

#include <limits>

#include "engine/calls/outline.h"
#include "plan/onnx.h"

namespace torchtrt::runtime {

std::string onnxOf(const std::string& name, const std::vector<c10::intrusive_ptr<Engine>>& engines, bool has_weights) {
  const uint64_t largest = has_weights ? std::numeric_limits<uint64_t>::max() : plan::kSmallWeight;
  std::vector<plan::Plan> plans;
  for (const c10::intrusive_ptr<Engine>& engine : engines) {
    plans.push_back(engine->plan(largest));
  }
  std::vector<plan::OnnxPart> parts;
  for (size_t i = 0; i < engines.size(); ++i) {
    parts.push_back({&plans[i], engine::implementationsOf(engines[i]->engine())});
  }
  return plan::onnxOf(name, parts, has_weights);
}

}  // namespace torchtrt::runtime
