#include "engine/fusion/fuser.h"

#include <algorithm>
#include <utility>

namespace torchtrt::engine {

bool Fuser::takeLeft(size_t index, Draft& draft) {
  State& state = states_[index];
  if (state.prepared == nullptr) {
    return false;
  }
  draft.prepared = std::move(state.prepared);
  draft.inputs = std::move(state.inputs);
  draft.rule = state.rule;
  draft.fused = {state.before};
  if (state.means >= 0) {
    markAveraged(index, draft, state.means);
  }
  return true;
}

void Fuser::markAveraged(size_t index, Draft& draft, int32_t means) {
  const int32_t averaging = model_.candidates.averaged_by[index];
  draft.outputs.push_back(means);
  draft.fused.push_back(averaging);
  stateOf(averaging).done = true;
}

std::unique_ptr<kernels::Prepared> Fuser::kernelOf(kernels::Fused fused, Rule rule, int32_t first, int32_t second) {
  if (auto* const refusal = std::get_if<Refusal>(&fused)) {
    refuse(rule, first, second, std::move(refusal->reason));
    return nullptr;
  }
  return std::get<std::unique_ptr<kernels::Prepared>>(std::move(fused));
}

bool Fuser::refuse(Rule rule, int32_t first, int32_t second, std::string reason) {
  apart_.push_back({rule, first, second, std::move(reason)});
  return false;
}

bool isPerChannel(const kernels::TensorDesc& factors, const kernels::TensorDesc& tensor) {
  if (tensor.dims.size() < 3 || factors.dims.size() != tensor.dims.size() || factors.dims[0] != tensor.dims[0] ||
      factors.dims[1] != tensor.dims[1]) {
    return false;
  }
  return std::all_of(factors.dims.begin() + 2, factors.dims.end(), [](int64_t size) { return size == 1; }) &&
         (factors.dims[1] == 1 || factors.strides[1] == 1) &&
         (factors.dims[0] == 1 || factors.strides[0] == factors.dims[1]);
}

}  // namespace torchtrt::engine
