// Most reference kernels share this: a kernel that only holds its attributes, and the size of parallel chunks.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "cpu/storage/dense_inputs.h"
#include "kernels/kernel.h"

namespace torchtrt::kernels {

// A kernel whose prepare() is PreparedType(config, shapes). It takes any strides, but has operands copied for which
// that is faster.
template <typename PreparedType, typename Config>
class SimpleKernel final : public Kernel {
 public:
  explicit SimpleKernel(Config config) : config_(std::move(config)) {}
  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return std::make_unique<PreparedType>(config_, shapes);
  }
  bool acceptsStrides(int, const TensorDesc& desc) const override {
    return !liesCrosswise(desc);
  }

 private:
  Config config_;
};

// Layers without attributes take this.
struct NoConfig {};

template <typename PreparedType, typename Config>
CreateResult makeKernel(Config config) {
  return CreateResult(std::make_unique<SimpleKernel<PreparedType, Config>>(std::move(config)));
}

// Loop iterations per chunk when one iteration costs about `cost` element operations: a chunk is worth starting a
// thread for.
inline int64_t grainFor(int64_t cost) {
  return std::max<int64_t>(1, 16384 / std::max<int64_t>(cost, 1));
}

}  // namespace torchtrt::kernels
