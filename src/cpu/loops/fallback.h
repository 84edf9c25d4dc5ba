// Fast kernels that are good at most shapes and strides, but not at all, keep the family's reference kernel for the
// rest.
#pragma once

#include <memory>
#include <variant>

#include "cpu/storage/dense_inputs.h"
#include "cpu/storage/half_rows.h"
#include "kernels/kernel.h"

namespace torchtrt::kernels {

// Asks `choose` first, which gives null for shapes that are the reference's; with operands that it would take if they
// lay in rows, it gets copies.
template <typename Config>
class KernelWithFallback final : public Kernel {
 public:
  using Choose = std::unique_ptr<Prepared> (*)(const Config& config, const ShapeSet& shapes);

  KernelWithFallback(Config config, Choose choose, std::unique_ptr<Kernel> reference)
      : config_(std::move(config)), choose_(choose), reference_(std::move(reference)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    std::unique_ptr<Prepared> chosen = choose_(config_, shapes);
    if (chosen == nullptr) {
      chosen = prepareOnDenseInputs(shapes, [&](const ShapeSet& dense) { return choose_(config_, dense); });
    }
    return chosen != nullptr ? std::move(chosen) : reference_->prepare(shapes);
  }
  bool acceptsStrides(int, const TensorDesc&) const override {
    return true;
  }

 private:
  Config config_;
  Choose choose_;
  std::unique_ptr<Kernel> reference_;
};

// Refuses what the reference refuses.
template <typename Config>
CreateResult makeKernelWithFallback(Config config, typename KernelWithFallback<Config>::Choose choose,
                                    CreateResult reference) {
  if (Refusal* refusal = std::get_if<Refusal>(&reference)) {
    return std::move(*refusal);
  }
  return std::make_unique<KernelWithFallback<Config>>(std::move(config), choose,
                                                      std::move(std::get<std::unique_ptr<Kernel>>(reference)));
}

// Makes one with one PreparedType, whose PreparedType::accepts(config, shapes) tells if it can run these shapes.
template <typename PreparedType, typename Config>
CreateResult makeKernelWithFallback(Config config, CreateResult reference) {
  return makeKernelWithFallback<Config>(
      std::move(config),
      [](const Config& given, const ShapeSet& shapes) -> std::unique_ptr<Prepared> {
        return PreparedType::accepts(given, shapes) ? std::make_unique<PreparedType>(given, shapes) : nullptr;
      },
      std::move(reference));
}

// Null, or the first operand dtype that is another one.
inline const char* otherThan(DType dtype, const Problem& problem) {
  for (const std::vector<Operand>* operands : {&problem.inputs, &problem.outputs}) {
    for (const Operand& operand : *operands) {
      if (operand.present && operand.dtype != dtype) {
        return toString(operand.dtype);
      }
    }
  }
  return nullptr;
}
inline const char* otherThanFloat32(const Problem& problem) {
  return otherThan(DType::kFloat32, problem);
}

inline Refusal float32Only(const char* dtype) {
  return {"dtype", std::string("computes float32 only, not ") + dtype};
}

// create(T()) for the T of all operands, float or double.
template <typename Create>
CreateResult createFloating(const Problem& problem, Create&& create) {
  if (otherThan(DType::kFloat64, problem) == nullptr) {
    return create(double());
  }
  if (const char* dtype = otherThanFloat32(problem)) {
    return Refusal{"dtype", std::string("computes float32 or float64 only, not ") + dtype};
  }
  return create(float());
}

// The same with create(T(), Stored()), where Stored is T, or uint16_t if all operands are of one dtype of 16 bits,
// which the kernel widens to float as it reads them.
template <typename Create>
CreateResult createStored(const Problem& problem, Create&& create) {
  const DType dtype = problem.outputs.at(0).dtype;
  if (isHalf(dtype) && otherThan(dtype, problem) == nullptr) {
    return create(float(), uint16_t());
  }
  return createFloating(problem, [&](auto type) { return create(type, type); });
}

}  // namespace torchtrt::kernels
