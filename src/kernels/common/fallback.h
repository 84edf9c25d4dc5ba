// For fast kernels that are good at most shapes and strides but not at all: the family's reference kernel, which takes
// the rest.
#pragma once

#include <memory>
#include <variant>

#include "kernels/kernel.h"

namespace torchtrt::kernels {

// PreparedType is tried first: PreparedType::accepts(config, shapes) tells whether it can run these shapes.
template <typename PreparedType, typename Config>
class KernelWithFallback final : public Kernel {
 public:
  KernelWithFallback(Config config, std::unique_ptr<Kernel> reference)
      : config_(std::move(config)), reference_(std::move(reference)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    if (PreparedType::accepts(config_, shapes)) {
      return std::make_unique<PreparedType>(config_, shapes);
    }
    return reference_->prepare(shapes);
  }
  bool acceptsStrides(int input, const TensorDesc& desc) const override {
    return reference_->acceptsStrides(input, desc);
  }

 private:
  Config config_;
  std::unique_ptr<Kernel> reference_;
};

// Refuses what the reference refuses.
template <typename PreparedType, typename Config>
CreateResult makeKernelWithFallback(Config config, CreateResult reference) {
  if (Refusal* refusal = std::get_if<Refusal>(&reference)) {
    return std::move(*refusal);
  }
  return std::make_unique<KernelWithFallback<PreparedType, Config>>(
      std::move(config), std::move(std::get<std::unique_ptr<Kernel>>(reference)));
}

// Null, or the first operand dtype that is not float32.
inline const char* otherThanFloat32(const Problem& problem) {
  for (const std::vector<Operand>* operands : {&problem.inputs, &problem.outputs}) {
    for (const Operand& operand : *operands) {
      if (operand.present && operand.dtype != DType::kFloat32) {
        return toString(operand.dtype);
      }
    }
  }
  return nullptr;
}

inline Refusal float32Only(const char* dtype) {
  return {"dtype", std::string("computes float32 only, not ") + dtype};
}

}  // namespace torchtrt::kernels
