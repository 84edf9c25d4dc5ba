#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/storage/convert.h"
#include "cpu/threads/parallel.h"
#include "cpu/threads/thread_memory.h"
#include "cpu/topk/ties.h"
#include "cpu/topk/topk.h"

namespace torchtrt::kernels {
namespace {

// One tensor seen as rows along the axis.
struct Rows {
  std::vector<int64_t> dims, strides;  // of the other axes
  int64_t size = 1, step = 0;          // of the axis

  Rows(const TensorDesc& desc, size_t axis) : dims(desc.dims), strides(desc.strides) {
    if (dims.empty()) {  // a scalar is a row of one
      return;
    }
    size = dims.at(axis);
    step = strides.at(axis);
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
    strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  int64_t offset(int64_t row) const {
    return offsetAt(row, dims, strides, dims.size());
  }
};

// NaN is greater than every number.
template <typename T>
bool isGreater(T a, T b) {
  return a > b || (a != a && b == b);
}

class TopKPrepared final : public Prepared {
 public:
  TopKPrepared(const topk::Order& order, const ShapeSet& shapes)
      : order_(topk::orderFor(order, shapes.inputs.at(0))),
        dtype_(shapes.inputs.at(0).dtype),
        index_dtype_(shapes.outputs.at(1).dtype),
        in_(shapes.inputs[0], order.axis),
        values_(shapes.outputs[0], order.axis),
        indices_(shapes.outputs[1], order.axis) {
    if (values_.size > in_.size) {
      throw EngineError(
          ErrorCode::kShapeArithmetic,
          "topk: k is " + std::to_string(values_.size) + ", but the axis has " + std::to_string(in_.size) + " elements",
          {}, "ask for at most as many elements as there are");
    }
  }

  void run(const RunArgs& args) const override {
    visitComputeType(dtype_, [&](auto type) { runAs<typename decltype(type)::type>(args); });
  }

 private:
  template <typename T>
  void runAs(const RunArgs& args) const {
    const Reader<T> reader(dtype_);
    const Writer<T> value_writer(dtype_);
    const Writer<int64_t> index_writer(index_dtype_);
    parallelFor(args.threads, 0, countOf(in_.dims), grainFor(8 * in_.size), [&](int64_t begin, int64_t end) {
      ThreadVector<T> row_values(static_cast<size_t>(in_.size)), best(static_cast<size_t>(values_.size));
      ThreadVector<int64_t> order(static_cast<size_t>(in_.size));
      topk::PyTorchOrder<T> as_pytorch(order_);
      for (int64_t row = begin; row < end; ++row) {
        reader.read(args.inputs[0], in_.offset(row), in_.step, in_.size, row_values.data());
        sortFront(row_values, order);
        if (values_.size > 0) {
          as_pytorch.arrange(row_values.data(), in_.size, order.data(), values_.size);
        }
        for (size_t i = 0; i < best.size(); ++i) {
          best[i] = row_values[static_cast<size_t>(order[i])];
        }
        value_writer.write(best.data(), values_.size, args.outputs[0], values_.offset(row), values_.step);
        index_writer.write(order.data(), values_.size, args.outputs[1], indices_.offset(row), indices_.step);
      }
    });
  }

  // Positions with the k first in order; equal values by position.
  template <typename T>
  void sortFront(const ThreadVector<T>& values, ThreadVector<int64_t>& order) const {
    std::iota(order.begin(), order.end(), int64_t{0});
    std::partial_sort(order.begin(), order.begin() + values_.size, order.end(), [&](int64_t a, int64_t b) {
      const T x = values[static_cast<size_t>(a)];
      const T y = values[static_cast<size_t>(b)];
      if (isGreater(x, y)) {
        return order_.largest;
      }
      return isGreater(y, x) ? !order_.largest : a < b;
    });
  }

  topk::Order order_;
  DType dtype_, index_dtype_;
  Rows in_, values_, indices_;
};

}  // namespace

CreateResult createTopKReference(const Problem& problem) {
  return makeKernel<TopKPrepared>(topk::readOrder(*problem.attributes));
}

}  // namespace torchtrt::kernels
