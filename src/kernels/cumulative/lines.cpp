// Running sums and products of float32, many lines at a time: one line alone waits for every addition. Equal to the
// reference in every bit, since each line is added up in its own order.
#include <algorithm>
#include <array>
#include <functional>

#include "kernels/common/fallback.h"
#include "kernels/common/loop_nest.h"
#include "kernels/common/simple_kernel.h"
#include "kernels/cumulative/cumulative.h"
#include "kernels/cumulative/fast.h"
#include "kernels/parallel.h"

namespace torchtrt::kernels::cumulative {
namespace {

struct Config {
  bool is_product = false;
  size_t axis = 0;
};

class CumulativeLines final : public Prepared {
 public:
  static bool accepts(const Config&, const ShapeSet& shapes) {
    return !shapes.inputs[0].dims.empty();
  }

  CumulativeLines(const Config& config, const ShapeSet& shapes)
      : is_product_(config.is_product),
        length_(shapes.inputs[0].dims[config.axis]),
        in_step_(shapes.inputs[0].strides[config.axis]),
        out_step_(shapes.outputs[0].strides[config.axis]),
        lines_(withoutAxis(shapes.inputs[0].dims, config.axis), {withoutAxis(shapes.outputs[0].strides, config.axis),
                                                                 withoutAxis(shapes.inputs[0].strides, config.axis)}),
        side_by_side_(lines_.steps()[0] == 1 && lines_.steps()[1] == 1) {}

  void run(const RunArgs& args) const override {
    if (is_product_) {
      runAs<std::multiplies<>>(args, 1.0);
    } else {
      runAs<std::plus<>>(args, 0.0);
    }
  }

 private:
  static constexpr int64_t kColumns = 256;  // lines side by side that are taken together
  static constexpr int64_t kFew = 8;        // lines elsewhere

  template <typename Fold>
  void runAs(const RunArgs& args, double start) const {
    const auto* in = static_cast<const float*>(args.inputs[0]);
    auto* out = static_cast<float*>(args.outputs[0]);
    lines_.run(args.threads, kColumns, grainFor(4 * length_), [&](const LoopNest::Block& block) {
      for (int64_t row = 0; row < block.rows; ++row) {
        const float* from = in + block.offsets[1] + row * block.row_strides[1];
        float* to = out + block.offsets[0] + row * block.row_strides[0];
        if (side_by_side_ && block.length > kFew) {
          foldColumns<Fold>(from, to, block.length, start);
          continue;
        }
        int64_t i = 0;
        for (; i + kFew <= block.length; i += kFew) {
          foldLines<Fold, kFew>(from + i * block.steps[1], block.steps[1], to + i * block.steps[0], block.steps[0],
                                start);
        }
        for (; i < block.length; ++i) {
          foldLines<Fold, 1>(from + i * block.steps[1], 0, to + i * block.steps[0], 0, start);
        }
      }
    });
  }

  template <typename Fold>
  void foldColumns(const float* in, float* out, int64_t columns, double start) const {
    std::array<double, kColumns> totals;
    totals.fill(start);
    for (int64_t i = 0; i < length_; ++i, in += in_step_, out += out_step_) {
      for (int64_t j = 0; j < columns; ++j) {
        double& total = totals[static_cast<size_t>(j)];
        total = Fold()(total, static_cast<double>(in[j]));
        out[j] = static_cast<float>(total);
      }
    }
  }

  template <typename Fold, int64_t kLines>
  void foldLines(const float* in, int64_t in_line, float* out, int64_t out_line, double start) const {
    std::array<double, kLines> totals;
    totals.fill(start);
    for (int64_t i = 0; i < length_; ++i, in += in_step_, out += out_step_) {
#pragma GCC unroll 8
      for (int64_t j = 0; j < kLines; ++j) {
        double& total = totals[static_cast<size_t>(j)];
        total = Fold()(total, static_cast<double>(in[j * in_line]));
        out[j * out_line] = static_cast<float>(total);
      }
    }
  }

  bool is_product_;
  int64_t length_, in_step_, out_step_;
  LoopNest lines_;
  bool side_by_side_;
};

}  // namespace

CreateResult createLines(const Problem& problem) {
  if (const char* dtype = otherThanFloat32(problem)) {
    return float32Only(dtype);
  }
  const std::string& op = problem.attributes->getString("op");
  if (op != "sum" && op != "prod") {
    return Refusal{"op", "has sums and products only, not " + op};
  }
  return makeKernelWithFallback<CumulativeLines>(
      Config{op == "prod", static_cast<size_t>(problem.attributes->getInt("axis"))},
      createCumulativeReference(problem));
}

}  // namespace torchtrt::kernels::cumulative
