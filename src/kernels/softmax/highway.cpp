// Softmax and log-softmax along an axis whose elements lie next to each other, float32.
#include <cmath>
#include <limits>

#include "kernels/common/fallback.h"
#include "kernels/common/row_reductions.h"
#include "kernels/common/simple_kernel.h"
#include "kernels/common/strided_loop.h"
#include "kernels/parallel.h"
#include "kernels/softmax/fast.h"
#include "kernels/softmax/softmax.h"

namespace torchtrt::kernels::softmax {
namespace {

struct Config {
  size_t axis = 0;
  bool log = false;
};

std::vector<int64_t> without(std::vector<int64_t> values, size_t axis) {
  values.erase(values.begin() + static_cast<ptrdiff_t>(axis));
  return values;
}

class HighwaySoftmax final : public Prepared {
 public:
  static bool accepts(const Config& config, const ShapeSet& shapes) {
    const TensorDesc& in = shapes.inputs[0];
    return !in.dims.empty() && in.dims[config.axis] > 0 && in.strides[config.axis] == 1 &&
           shapes.outputs[0].strides[config.axis] == 1;
  }

  HighwaySoftmax(const Config& config, const ShapeSet& shapes)
      : log_(config.log),
        size_(shapes.inputs[0].dims[config.axis]),
        rows_(without(shapes.inputs[0].dims, config.axis),
              {without(shapes.outputs[0].strides, config.axis), without(shapes.inputs[0].strides, config.axis)}) {}

  void run(const RunArgs& args) const override {
    const RowReductions& functions = rowReductions();
    const auto* in = static_cast<const float*>(args.inputs[0]);
    auto* out = static_cast<float*>(args.outputs[0]);
    parallelFor(args.threads, 0, rows_.count(), grainFor(4 * size_), [&](int64_t begin, int64_t end) {
      rows_.run(begin, end, rows_.count(), [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          runRow(functions, in + offsets[1] + i * steps[1], out + offsets[0] + i * steps[0]);
        }
      });
    });
  }

 private:
  void runRow(const RowReductions& functions, const float* in, float* out) const {
    const float greatest = functions.max(in, size_);
    const float sum = functions.exponentials(in, greatest, log_ ? nullptr : out, size_);
    if (log_) {
      // Two steps, since greatest + log(sum) would round away the smaller of them.
      functions.scale(in, 1.0F, -greatest, out, size_);
      functions.scale(out, 1.0F, -std::log(sum), out, size_);
    } else {
      functions.scale(out, 1.0F / sum, 0.0F, out, size_);
    }
  }

  bool log_;
  int64_t size_;
  StridedLoop rows_;
};

}  // namespace

CreateResult createHighway(const Problem& problem) {
  if (const char* dtype = otherThanFloat32(problem)) {
    return float32Only(dtype);
  }
  const Config config = {static_cast<size_t>(problem.attributes->getInt("axis")),
                         problem.attributes->getBool("log", false)};
  return makeKernelWithFallback<HighwaySoftmax>(config, createSoftmaxReference(problem));
}

}  // namespace torchtrt::kernels::softmax
