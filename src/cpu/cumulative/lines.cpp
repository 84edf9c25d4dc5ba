// Running sums and products of float32, float64 or int64, many lines at a time: one line alone waits for every
// addition. Equal to the reference in every bit, since each line is added up in its own order.
#include <array>
#include <functional>

#include "cpu/cumulative/cumulative.h"
#include "cpu/cumulative/fast.h"
#include "cpu/loops/accumulate.h"
#include "cpu/loops/fallback.h"
#include "cpu/loops/loop_nest.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels::cumulative {
namespace {

struct Config {
  bool is_product = false;
  size_t axis = 0;
};

template <typename T>
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
      runAs<std::multiplies<>>(args, Total(1));
    } else {
      runAs<std::plus<>>(args, Total(0));
    }
  }

 private:
  using Total = Accumulator<T>;
  static constexpr int64_t kColumns = 256;  // lines side by side that are taken together
  static constexpr int64_t kFew = 8;        // lines elsewhere

  template <typename Fold>
  void runAs(const RunArgs& args, Total start) const {
    const auto* in = static_cast<const T*>(args.inputs[0]);
    auto* out = static_cast<T*>(args.outputs[0]);
    lines_.run(args.threads, kColumns, grainFor(4 * length_), [&](const LoopNest::Block& block) {
      for (int64_t row = 0; row < block.rows; ++row) {
        const T* from = in + block.offsets[1] + row * block.row_strides[1];
        T* to = out + block.offsets[0] + row * block.row_strides[0];
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
  void foldColumns(const T* in, T* out, int64_t columns, Total start) const {
    std::array<Total, kColumns> totals;
    totals.fill(start);
    for (int64_t i = 0; i < length_; ++i, in += in_step_, out += out_step_) {
      for (int64_t j = 0; j < columns; ++j) {
        Total& total = totals[static_cast<size_t>(j)];
        total = Fold()(total, static_cast<Total>(in[j]));
        out[j] = static_cast<T>(total);
      }
    }
  }

  template <typename Fold, int64_t kLines>
  void foldLines(const T* in, int64_t in_line, T* out, int64_t out_line, Total start) const {
    std::array<Total, kLines> totals;
    totals.fill(start);
    for (int64_t i = 0; i < length_; ++i, in += in_step_, out += out_step_) {
#pragma GCC unroll 8
      for (int64_t j = 0; j < kLines; ++j) {
        Total& total = totals[static_cast<size_t>(j)];
        total = Fold()(total, static_cast<Total>(in[j * in_line]));
        out[j * out_line] = static_cast<T>(total);
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
  const std::string& op = problem.attributes->getString("op");
  if (op != "sum" && op != "prod") {
    return Refusal{"op", "has sums and products only, not " + op};
  }
  const auto create = [&](auto type) {
    return makeKernelWithFallback<CumulativeLines<decltype(type)>>(
        Config{op == "prod", static_cast<size_t>(problem.attributes->getInt("axis"))},
        createCumulativeReference(problem));
  };
  return otherThan(DType::kInt64, problem) == nullptr ? create(int64_t()) : createFloating(problem, create);
}

}  // namespace torchtrt::kernels::cumulative
