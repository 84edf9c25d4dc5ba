#include "cpu/loops/loop_nest.h"

#include <algorithm>
#include <cstdlib>

#include "base/check.h"

namespace torchtrt::kernels {

bool lieDenseAlike(const std::vector<int64_t>& dims, const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  const LoopNest nest(dims, {a, b});
  return nest.isOneRow() && (nest.count() == 1 || (nest.steps()[0] == 1 && nest.steps()[1] == 1));
}

LoopNest::LoopNest(const std::vector<int64_t>& dims, const std::vector<std::vector<int64_t>>& strides) {
  TORCHTRT_CHECK(!strides.empty() && strides.size() <= kMaxTensors, "a loop over " << strides.size() << " tensors");
  std::vector<size_t> axes;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    count_ *= dims[axis];
    if (dims[axis] != 1) {
      axes.push_back(axis);
    }
  }
  std::stable_sort(axes.begin(), axes.end(),
                   [&](size_t a, size_t b) { return std::abs(strides[0][a]) > std::abs(strides[0][b]); });
  for (const size_t axis : axes) {
    Strides steps{};
    bool mergeable = !dims_.empty();
    for (size_t t = 0; t < strides.size(); ++t) {
      steps[t] = strides[t][axis];
      mergeable = mergeable && strides_.back()[t] == steps[t] * dims[axis];
    }
    if (mergeable) {
      dims_.back() *= dims[axis];
      strides_.back() = steps;
    } else {
      dims_.push_back(dims[axis]);
      strides_.push_back(steps);
    }
  }
  while (dims_.size() < 2) {
    Strides steps{};
    if (dims_.empty()) {
      steps.fill(1);  // a scalar is a row of one, dense
    }
    dims_.insert(dims_.begin(), 1);
    strides_.insert(strides_.begin(), steps);
  }
}

bool LoopNest::isDense() const {
  int64_t stride = 1;
  for (size_t axis = dims_.size(); axis-- > 0;) {
    if (dims_[axis] != 1 && strides_[axis][0] != stride) {
      return false;
    }
    stride *= dims_[axis];
  }
  return true;
}

LoopNest::Block LoopNest::blockAt(int64_t row) const {
  const size_t inner = dims_.size() - 1;
  Block block;
  block.offsets = {};
  block.row_strides = strides_[inner - 1];
  block.steps = strides_[inner];
  block.rows = dims_[inner - 1] - row % dims_[inner - 1];
  for (size_t axis = inner; axis-- > 0;) {
    const int64_t index = row % dims_[axis];
    row /= dims_[axis];
    for (size_t t = 0; t < kMaxTensors; ++t) {
      block.offsets[t] += index * strides_[axis][t];
    }
  }
  return block;
}

}  // namespace torchtrt::kernels
