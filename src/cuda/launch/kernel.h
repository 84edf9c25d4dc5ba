// The form of this backend's kernels: what they keep of a problem, and a function that makes launches for shapes.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "cuda/launch/launch.h"
#include "kernels/kernel.h"

namespace torchtrt::cuda {

// Everything that stays known of a problem; the kernel owns the attributes.
struct Layer {
  const CudaDevice& device;
  const Attributes& attributes;
  std::vector<bool> present;  // by input

  bool has(size_t input) const {
    return input < present.size() && present[input];
  }
  // A pointer to an operand; null if the layer does not have it.
  Arguments& add(Arguments& arguments, size_t input) const {
    return has(input) ? arguments.input(input) : arguments.absent();
  }
};

using Prepare = std::function<std::unique_ptr<kernels::Prepared>(const Layer& layer, const kernels::ShapeSet& shapes)>;

// A kernel of any strides, which reads constants in the device's memory.
class LaunchKernel final : public kernels::Kernel {
 public:
  LaunchKernel(const kernels::Problem& problem, Prepare prepare)
      : attributes_(*problem.attributes), prepare_(std::move(prepare)), layer_{deviceOf(problem), attributes_, {}} {
    for (const kernels::Operand& input : problem.inputs) {
      layer_.present.push_back(input.present);
    }
  }
  std::unique_ptr<kernels::Prepared> prepare(const kernels::ShapeSet& shapes) const override {
    return prepare_(layer_, shapes);
  }
  bool acceptsStrides(int, const kernels::TensorDesc&) const override {
    return true;
  }

 private:
  Attributes attributes_;
  Prepare prepare_;
  Layer layer_;
};

inline kernels::CreateResult launched(const kernels::Problem& problem, Prepare prepare) {
  return std::make_unique<LaunchKernel>(problem, std::move(prepare));
}

}  // namespace torchtrt::cuda
