#include "engine/calls/empty_inputs.h"

#include <algorithm>
#include <string>

#include "kernels/kernel.h"

namespace torchtrt::engine {

FilledInputs::FilledInputs(const Model& model, std::span<const TensorView> given, device::Stream stream)
    : model_(model), given_(given), stream_(stream) {
  if (!comeEmpty()) {
    return;
  }
  filled_.assign(given.begin(), given.end());
  for (size_t i = 0; i < given.size(); ++i) {
    if (!model.plan.inputs[i].empty_dims.empty()) {
      fill(i);
    }
  }
}

// All that may, and at least one.
bool FilledInputs::comeEmpty() const {
  const std::vector<plan::Binding>& inputs = model_.plan.inputs;
  bool any = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<int64_t>& dims = inputs[i].empty_dims;
    if (dims.empty()) {
      continue;
    }
    const bool is_empty = i < given_.size() && given_[i].rank >= 0 &&
                          std::equal(dims.begin(), dims.end(), given_[i].dims, given_[i].dims + given_[i].rank);
    if (!is_empty) {
      return false;
    }
    any = true;
  }
  return any && given_.size() == inputs.size();
}

void FilledInputs::fill(size_t input) {
  const plan::Binding& binding = model_.plan.inputs[input];
  std::vector<int64_t> dims;
  for (const plan::Register dim : model_.plan.tensors[static_cast<size_t>(binding.tensor)].dims) {
    dims.push_back(model_.plan.program[dim].immediate);
  }
  const size_t bytes = plan::checkedBytes(dims, given_[input].dtype);
  zeros_.push_back(model_.device->allocate(bytes, "the zeros of input '" + binding.name + "'", stream_));
  model_.device->zero(zeros_.back().data(), bytes, stream_);
  std::vector<int64_t> strides = kernels::denseStrides(dims);
  const auto rank = static_cast<int32_t>(dims.size());
  shapes_.push_back(std::move(dims));
  shapes_.push_back(std::move(strides));
  filled_[input] = {given_[input].dtype, rank, shapes_[shapes_.size() - 2].data(), shapes_.back().data(),
                    zeros_.back().data()};
}

}  // namespace torchtrt::engine
