// Both plugins of this folder share this: row-major copies of operands if the caller's strides need them.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "cpu/regions/half.h"
#include "cpu/storage/dense.h"
#include "torchtrt/plugin.h"

namespace torchtrt::kernels::regions {

class DenseOperands {
 public:
  explicit DenseOperands(std::span<const plugin::InputView> views) : views_(views) {
    for (const plugin::InputView& view : views) {
      operands_.emplace_back(
          TensorDesc{view.dtype, {view.dims.begin(), view.dims.end()}, {view.strides.begin(), view.strides.end()}});
    }
  }

  size_t scratchBytes() const {
    size_t bytes = 0;
    for (const DenseOperand& operand : operands_) {
      bytes += operand.scratchBytes();
    }
    return bytes;
  }

  /// Pointers in the operands' order.
  template <typename T>
  std::vector<const T*> read(int threads, void* scratch) const {
    using Read = std::conditional_t<std::is_same_v<T, Half>, float, T>;
    std::vector<const T*> pointers;
    auto* free = static_cast<std::byte*>(scratch);
    for (size_t i = 0; i < operands_.size(); ++i) {
      pointers.push_back(reinterpret_cast<const T*>(operands_[i].dense<Read>(threads, views_[i].data, free)));
      free += operands_[i].scratchBytes();
    }
    return pointers;
  }

 private:
  std::span<const plugin::InputView> views_;
  std::vector<DenseOperand> operands_;
};

/// float32 alone, float64 alone or float16 alone.
inline bool areOfOneFloatingType(std::span<const DType> inputs) {
  for (const DType dtype : inputs) {
    if (dtype != inputs[0] || (dtype != DType::kFloat32 && dtype != DType::kFloat64 && dtype != DType::kFloat16)) {
      return false;
    }
  }
  return true;
}

/// Calls visit(T()) with the type to compute in.
template <typename Visit>
void visitArithmetic(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::kFloat64:
      return visit(double());
    case DType::kFloat16:
      return visit(Half());
    default:
      return visit(float());
  }
}

/// Part of an output: values are computed in `data` and stored where the part lies.
template <typename T>
class OutputPart {
 public:
  OutputPart(void* output, int64_t begin, int64_t /*count*/) : data_(static_cast<T*>(output) + begin) {}
  T* data() {
    return data_;
  }
  void store() {}

 private:
  T* data_;
};

template <>
class OutputPart<Half> {
 public:
  OutputPart(void* output, int64_t begin, int64_t count)
      : stored_(static_cast<Float16*>(output) + begin), values_(static_cast<size_t>(count)) {}
  Half* data() {
    return values_.data();
  }
  void store() {
    std::transform(values_.begin(), values_.end(), stored_, [](Half value) { return toFloat16(value); });
  }

 private:
  Float16* stored_;
  std::vector<Half> values_;
};

}  // namespace torchtrt::kernels::regions
