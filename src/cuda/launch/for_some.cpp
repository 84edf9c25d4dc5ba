#include "cuda/launch/for_some.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "base/check.h"

namespace torchtrt::cuda {

namespace {

class KernelForSome final : public kernels::Kernel {
 public:
  KernelForSome(const kernels::Problem& problem, Prepare prepare, std::unique_ptr<kernels::Kernel> other, size_t packed)
      : first_(problem, std::move(prepare)), other_(std::move(other)), packed_(packed) {}

  std::unique_ptr<kernels::Prepared> prepare(const kernels::ShapeSet& shapes) const override {
    if (std::unique_ptr<kernels::Prepared> prepared = first_.prepare(shapes)) {
      return prepared;
    }
    TORCHTRT_CHECK(other_ != nullptr, "a kernel refuses sizes that it was created for");
    return other_->prepare(shapes);
  }
  bool acceptsStrides(int, const kernels::TensorDesc&) const override {
    return true;
  }
  bool needsConstant(int input) const override {
    constexpr int kWeights = 1;
    return input != kWeights || packed_ == 0 || (other_ != nullptr && other_->needsConstant(input));
  }
  size_t packedBytes() const override {
    return packed_ + (other_ == nullptr ? 0 : other_->packedBytes());
  }

 private:
  LaunchKernel first_;
  std::unique_ptr<kernels::Kernel> other_;
  size_t packed_;
};

}  // namespace

bool areSizesKnown(const kernels::Problem& problem) {
  const auto isKnown = [](const kernels::Operand& operand) {
    return std::none_of(operand.dims.begin(), operand.dims.end(), [](int64_t dim) { return dim < 0; });
  };
  return std::all_of(problem.inputs.begin(), problem.inputs.end(), isKnown) &&
         std::all_of(problem.outputs.begin(), problem.outputs.end(), isKnown);
}

kernels::CreateResult launchedForSome(const kernels::Problem& problem, Prepare prepare,
                                      const std::vector<Create>& others, size_t packed) {
  kernels::CreateResult other;
  for (const Create create : others) {
    other = create(problem);
    if (std::holds_alternative<std::unique_ptr<kernels::Kernel>>(other)) {
      break;
    }
  }
  if (auto* const refusal = std::get_if<Refusal>(&other)) {
    return *refusal;
  }
  return std::make_unique<KernelForSome>(problem, std::move(prepare),
                                         std::get<std::unique_ptr<kernels::Kernel>>(std::move(other)), packed);
}

}  // namespace torchtrt::cuda
