// The form of this backend's kernels: what they keep of a problem, and a function that makes launches for shapes.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "cuda/launch/launch.h"
#include "kernels/kernel.h"
#include "kernels/rearranges.h"

namespace torchtrt::cuda {

// Everything that stays known of a problem; the kernel owns the attributes.
struct Layer {
  const CudaDevice& device;
  const Attributes& attributes;
  const std::vector<bool>& present;   // by input
  const std::vector<bool>& constant;  // by input: weights, which no kernel writes
  bool batch_invariant = false;       // the number of rows may not decide the order of a sum (kernels::Problem)

  bool has(size_t input) const {
    return input < present.size() && present[input];
  }
  // True if an operand never changes, or is not there.
  bool isConstant(size_t input) const {
    return !has(input) || constant[input];
  }
  // A pointer to an operand; null if the layer does not have it.
  Arguments& add(Arguments& arguments, size_t input) const {
    return has(input) ? arguments.input(input) : arguments.absent();
  }
};

using Prepare = std::function<std::unique_ptr<kernels::Prepared>(const Layer& layer, const kernels::ShapeSet& shapes)>;

// A kernel of any strides, which reads constants in the device's memory. `rearranged`: the operand that its first
// launch copies, whatever its strides; -1 for none.
class LaunchKernel final : public kernels::Kernel, public kernels::RearrangesInput {
 public:
  LaunchKernel(const kernels::Problem& problem, Prepare prepare, int rearranged = -1)
      : device_(problem.device),
        attributes_(*problem.attributes),
        prepare_(std::move(prepare)),
        rearranged_(rearranged),
        batch_invariant_(problem.batch_invariant) {
    for (const kernels::Operand& input : problem.inputs) {
      present_.push_back(input.present);
      constant_.push_back(input.constant != nullptr);
    }
  }
  std::unique_ptr<kernels::Prepared> prepare(const kernels::ShapeSet& shapes) const override {
    return prepare_({deviceOf(device_), attributes_, present_, constant_, batch_invariant_}, shapes);
  }
  bool acceptsStrides(int, const kernels::TensorDesc&) const override {
    return true;
  }
  bool rearranges(int input) const override {
    return input == rearranged_;
  }

 private:
  const device::Device* device_;  // null where somebody only asks if there is a kernel
  Attributes attributes_;
  Prepare prepare_;
  int rearranged_;
  bool batch_invariant_;
  std::vector<bool> present_;
  std::vector<bool> constant_;
};

inline kernels::CreateResult launched(const kernels::Problem& problem, Prepare prepare, int rearranged = -1) {
  return std::make_unique<LaunchKernel>(problem, std::move(prepare), rearranged);
}

}  // namespace torchtrt::cuda
