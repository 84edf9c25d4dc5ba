// What both plugins of this folder do with their operands: row-major copies where the caller's strides need them, and
// a check that the outputs are as large as the plugin would have them.
#pragma once

#include <string>
#include <vector>

#include "kernels/common/dense.h"
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
    std::vector<const T*> pointers;
    auto* free = static_cast<std::byte*>(scratch);
    for (size_t i = 0; i < operands_.size(); ++i) {
      pointers.push_back(operands_[i].dense<T>(threads, views_[i].data, free));
      free += operands_[i].scratchBytes();
    }
    return pointers;
  }

 private:
  std::span<const plugin::InputView> views_;
  std::vector<DenseOperand> operands_;
};

/// float32 alone or float64 alone.
inline bool areOfOneFloatingType(std::span<const DType> inputs) {
  for (const DType dtype : inputs) {
    if (dtype != inputs[0] || (dtype != DType::kFloat32 && dtype != DType::kFloat64)) {
      return false;
    }
  }
  return true;
}

/// Throws where a call's shapes do not fit each other, also those of a plan that somebody changed.
inline void checkCall(const plugin::Plugin& plugin, const std::string& name, std::span<const plugin::InputView> inputs,
                      std::span<const plugin::OutputView> outputs) {
  std::vector<TensorType> types;
  for (const plugin::InputView& input : inputs) {
    types.push_back({input.dtype, Dims::of({input.dims.begin(), input.dims.end()})});
  }
  const std::vector<TensorType> expected = plugin.inferOutputs(types);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Dims dims = Dims::of({outputs[i].dims.begin(), outputs[i].dims.end()});
    if (!(expected.at(i).dims == dims) || expected[i].dtype != outputs[i].dtype) {
      throw EngineError(ErrorCode::kPlugin,
                        name + ": expected an output of " + expected[i].dims.toString() + ", got " + dims.toString());
    }
  }
}

}  // namespace torchtrt::kernels::regions
