#include "cpu/loops/strided_loop.h"

#include <cstdlib>
#include <numeric>

#include "base/check.h"

namespace torchtrt::kernels {

int64_t offsetAt(int64_t position, const std::vector<int64_t>& dims, const std::vector<int64_t>& strides, size_t axes) {
  int64_t offset = 0;
  for (size_t axis = axes; axis-- > 0;) {
    offset += position % dims[axis] * strides[axis];
    position /= dims[axis];
  }
  return offset;
}

StridedLoop::StridedLoop(const std::vector<int64_t>& dims, const std::vector<std::vector<int64_t>>& strides)
    : count_(countOf(dims)) {
  TORCHTRT_CHECK(!strides.empty() && strides.size() <= kMaxTensors, "a loop over " << strides.size() << " tensors");
  std::vector<size_t> axes;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] != 1) {
      axes.push_back(axis);
    }
  }
  std::stable_sort(axes.begin(), axes.end(),
                   [&](size_t a, size_t b) { return std::abs(strides[0][a]) > std::abs(strides[0][b]); });
  for (const size_t axis : axes) {
    Steps steps{};
    bool mergeable = !dims_.empty();
    for (size_t t = 0; t < strides.size(); ++t) {
      steps[t] = strides[t][axis];
      mergeable = mergeable && steps_.back()[t] == steps[t] * dims[axis];
    }
    if (mergeable) {
      dims_.back() *= dims[axis];
      steps_.back() = steps;
    } else {
      dims_.push_back(dims[axis]);
      steps_.push_back(steps);
    }
  }
  if (dims_.empty()) {
    dims_.push_back(1);
    steps_.push_back({});
  }
}

void StridedLoop::seek(int64_t position, ThreadVector<int64_t>& index, Steps& offsets) const {
  for (size_t d = dims_.size(); d-- > 0;) {
    index[d] = position % dims_[d];
    position /= dims_[d];
    for (size_t t = 0; t < kMaxTensors; ++t) {
      offsets[t] += index[d] * steps_[d][t];
    }
  }
}

void StridedLoop::advance(int64_t n, ThreadVector<int64_t>& index, Steps& offsets) const {
  size_t d = dims_.size() - 1;
  index[d] += n;
  for (size_t t = 0; t < kMaxTensors; ++t) {
    offsets[t] += n * steps_[d][t];
  }
  for (; d > 0 && index[d] == dims_[d]; --d) {
    index[d] = 0;
    ++index[d - 1];
    for (size_t t = 0; t < kMaxTensors; ++t) {
      offsets[t] += steps_[d - 1][t] - dims_[d] * steps_[d][t];
    }
  }
}

FlatCursor::FlatCursor(const std::vector<int64_t>& dims, const std::vector<int64_t>& strides) {
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 1) {
      continue;
    }
    if (!dims_.empty() && strides_.back() == strides[axis] * dims[axis]) {
      dims_.back() *= dims[axis];
      strides_.back() = strides[axis];
    } else {
      dims_.push_back(dims[axis]);
      strides_.push_back(strides[axis]);
    }
  }
  if (dims_.empty()) {
    dims_.push_back(1);
    strides_.push_back(0);
  }
  index_.assign(dims_.size(), 0);
}

void FlatCursor::seek(int64_t position) {
  offset_ = 0;
  for (size_t d = dims_.size(); d-- > 0;) {
    index_[d] = position % dims_[d];
    position /= dims_[d];
    offset_ += index_[d] * strides_[d];
  }
}

void FlatCursor::advance(int64_t n) {
  size_t d = dims_.size() - 1;
  index_[d] += n;
  offset_ += n * strides_[d];
  for (; d > 0 && index_[d] == dims_[d]; --d) {
    index_[d] = 0;
    ++index_[d - 1];
    offset_ += strides_[d - 1] - dims_[d] * strides_[d];
  }
}

}  // namespace torchtrt::kernels
