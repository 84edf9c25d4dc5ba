#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "cpu/loops/simple_kernel.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/softmax/softmax.h"
#include "cpu/storage/convert.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels {
namespace {

struct SoftmaxConfig {
  size_t axis = 0;
  bool log = false;
};

TensorDesc withoutAxis(TensorDesc desc, size_t axis) {
  desc.dims.erase(desc.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  desc.strides.erase(desc.strides.begin() + static_cast<std::ptrdiff_t>(axis));
  return desc;
}

class SoftmaxPrepared final : public Prepared {
 public:
  SoftmaxPrepared(const SoftmaxConfig& config, const ShapeSet& shapes)
      : log_(config.log), dtype_(shapes.outputs.at(0).dtype) {
    const TensorDesc& in = shapes.inputs.at(0);
    const TensorDesc& out = shapes.outputs[0];
    if (in.dims.empty()) {  // a scalar is a row of one
      size_ = rows_ = 1;
      return;
    }
    size_ = in.dims.at(config.axis);
    in_step_ = in.strides[config.axis];
    out_step_ = out.strides.at(config.axis);
    in_rows_ = withoutAxis(in, config.axis);
    out_rows_ = withoutAxis(out, config.axis);
    rows_ = countOf(in_rows_.dims);
  }

  void run(const RunArgs& args) const override {
    if (size_ == 0) {
      return;
    }
    parallelFor(args.threads, 0, rows_, grainFor(16 * size_), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        if (dtype_ == DType::kFloat64) {
          runRow<double>(args, row);
        } else {
          runRow<float>(args, row);
        }
      }
    });
  }

 private:
  template <typename T>
  void runRow(const RunArgs& args, int64_t row) const {
    const Reader<T> reader(dtype_);
    const Writer<T> writer(dtype_);
    const int64_t in = offsetAt(row, in_rows_.dims, in_rows_.strides, in_rows_.dims.size());
    const int64_t out = offsetAt(row, out_rows_.dims, out_rows_.strides, out_rows_.dims.size());
    alignas(64) std::array<T, kRun> buffer;
    // body(values, n, first position) for every run of the row; values may be overwritten.
    const auto forRuns = [&](auto&& body) {
      for (int64_t i = 0; i < size_; i += kRun) {
        const int64_t n = std::min(kRun, size_ - i);
        reader.read(args.inputs[0], in + i * in_step_, in_step_, n, buffer.data());
        body(buffer.data(), n, i);
      }
    };
    T greatest = -std::numeric_limits<T>::infinity();
    forRuns([&](const T* values, int64_t n, int64_t) {
      greatest = std::max(greatest, *std::max_element(values, values + n));
    });
    double sum = 0;
    forRuns([&](const T* values, int64_t n, int64_t) {
      for (int64_t i = 0; i < n; ++i) {
        sum += static_cast<double>(std::exp(values[i] - greatest));
      }
    });
    const T divisor = static_cast<T>(sum);
    const T log_sum = static_cast<T>(std::log(sum));
    forRuns([&](T* values, int64_t n, int64_t first) {
      for (int64_t i = 0; i < n; ++i) {
        const T shifted = values[i] - greatest;
        values[i] = log_ ? shifted - log_sum : std::exp(shifted) / divisor;
      }
      writer.write(values, n, args.outputs[0], out + first * out_step_, out_step_);
    });
  }

  bool log_;
  DType dtype_;
  int64_t size_ = 0, rows_ = 0, in_step_ = 0, out_step_ = 0;
  TensorDesc in_rows_, out_rows_;  // dims and strides of the other axes
};

}  // namespace

CreateResult createSoftmaxReference(const Problem& problem) {
  if (!isFloating(problem.inputs.at(0).dtype)) {
    return Refusal{"dtype", std::string("softmax is not defined for ") + toString(problem.inputs[0].dtype)};
  }
  return makeKernel<SoftmaxPrepared>(SoftmaxConfig{static_cast<size_t>(problem.attributes->getInt("axis")),
                                                   problem.attributes->getBool("log", false)});
}

}  // namespace torchtrt::kernels
