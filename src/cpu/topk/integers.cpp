// The greatest or smallest of rows of integers: one by a scan, more by sorting keys of value and position, where the
// values of a row lie within 2^32 of each other; else positions by their values.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>

#include "cpu/loops/fallback.h"
#include "cpu/loops/loop_nest.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/storage/convert.h"
#include "cpu/threads/parallel.h"
#include "cpu/threads/thread_memory.h"
#include "cpu/topk/fast.h"
#include "cpu/topk/key_sort.h"
#include "cpu/topk/ties.h"
#include "cpu/topk/topk.h"

namespace torchtrt::kernels::topk {
namespace {

// Returns the index of the first greatest or smallest number. It keeps several at a time, since one alone waits for
// each comparison. A second search finds the first of equal ones.
template <bool kLargest>
int64_t placeOfExtreme(const int64_t* row, int64_t count) {
  constexpr int64_t kAbreast = 8;
  constexpr int64_t kShort = 64;
  if (count < kShort) {
    return (kLargest ? std::max_element(row, row + count) : std::min_element(row, row + count)) - row;
  }
  std::array<int64_t, kAbreast> best;
  best.fill(row[0]);
  const auto beyond = [](int64_t a, int64_t b) { return kLargest ? std::max(a, b) : std::min(a, b); };
  int64_t i = 0;
  for (; i + kAbreast <= count; i += kAbreast) {
    for (size_t j = 0; j < best.size(); ++j) {
      best[j] = beyond(best[j], row[i + static_cast<int64_t>(j)]);
    }
  }
  for (; i < count; ++i) {
    best[0] = beyond(best[0], row[i]);
  }
  const int64_t extreme = std::accumulate(best.begin(), best.end(), best[0], beyond);
  return std::find(row, row + count, extreme) - row;
}

class TopKOfIntegers final : public Prepared {
 public:
  static bool accepts(const Order& config, const ShapeSet& shapes) {
    const TensorDesc& in = shapes.inputs[0];
    const int64_t size = in.dims.empty() ? 0 : in.dims[config.axis];
    const int64_t count = in.dims.empty() ? 0 : shapes.outputs[0].dims[config.axis];
    return count > 0 && count <= size && size <= std::numeric_limits<int32_t>::max();
  }

  TopKOfIntegers(const Order& config, const ShapeSet& shapes)
      : order_(orderFor(config, shapes.inputs[0])),
        largest_(config.largest),
        size_(shapes.inputs[0].dims[config.axis]),
        count_(shapes.outputs[0].dims[config.axis]),
        steps_{shapes.outputs[0].strides[config.axis], shapes.outputs[1].strides[config.axis],
               shapes.inputs[0].strides[config.axis]},
        dtype_(shapes.inputs[0].dtype),
        index_dtype_(shapes.outputs[1].dtype),
        rows_(withoutAxis(shapes.inputs[0].dims, config.axis),
              {withoutAxis(shapes.outputs[0].strides, config.axis), withoutAxis(shapes.outputs[1].strides, config.axis),
               withoutAxis(shapes.inputs[0].strides, config.axis)}) {}

  void run(const RunArgs& args) const override {
    const Reader<int64_t> reader(dtype_);
    const Writer<int64_t> value_writer(dtype_);
    const Writer<int64_t> index_writer(index_dtype_);
    parallelFor(args.threads, 0, rows_.count(), grainFor((count_ == 1 ? 2 : 8) * size_),
                [&](int64_t begin, int64_t end) {
                  Buffers buffers;
                  buffers.row.resize(static_cast<size_t>(size_));
                  buffers.best.resize(static_cast<size_t>(count_));
                  buffers.places.resize(static_cast<size_t>(count_));
                  PyTorchOrder<int64_t> as_pytorch(order_);
                  rows_.run(begin, end, 1, [&](const int64_t* offsets, const int64_t*, int64_t) {
                    const int64_t* row = reader.view(args.inputs[0], offsets[2], steps_[2], size_, buffers.row.data());
                    place(row, buffers);
                    as_pytorch.arrange(row, size_, buffers.places.data(), count_);
                    for (size_t i = 0; i < buffers.best.size(); ++i) {
                      buffers.best[i] = row[buffers.places[i]];
                    }
                    value_writer.write(buffers.best.data(), count_, args.outputs[0], offsets[0], steps_[0]);
                    index_writer.write(buffers.places.data(), count_, args.outputs[1], offsets[1], steps_[1]);
                  });
                });
  }

 private:
  struct Buffers {
    ThreadVector<int64_t> row, best, places;
    ThreadVector<uint64_t> keys, other;
  };

  // Equal values keep their order.
  void place(const int64_t* row, Buffers& buffers) const {
    if (count_ == 1) {
      buffers.places[0] = largest_ ? placeOfExtreme<true>(row, size_) : placeOfExtreme<false>(row, size_);
      return;
    }
    const auto [least, greatest] = std::minmax_element(row, row + size_);
    const uint64_t span = static_cast<uint64_t>(*greatest) - static_cast<uint64_t>(*least);
    if (span > std::numeric_limits<uint32_t>::max()) {
      placeByComparing(row, buffers);
      return;
    }
    ThreadVector<uint64_t>& keys = buffers.keys;
    keys.resize(static_cast<size_t>(size_));
    for (size_t i = 0; i < keys.size(); ++i) {
      const uint64_t distance = largest_ ? static_cast<uint64_t>(*greatest) - static_cast<uint64_t>(row[i])
                                         : static_cast<uint64_t>(row[i]) - static_cast<uint64_t>(*least);
      keys[i] = distance << 32 | i;
    }
    sortKeys(keys, buffers.other, count_, std::bit_width(span));
    for (size_t i = 0; i < buffers.places.size(); ++i) {
      buffers.places[i] = static_cast<uint32_t>(keys[i]);
    }
  }

  void placeByComparing(const int64_t* row, Buffers& buffers) const {
    ThreadVector<int64_t> places(static_cast<size_t>(size_));
    std::iota(places.begin(), places.end(), 0);
    std::partial_sort_copy(
        places.begin(), places.end(), buffers.places.begin(), buffers.places.end(),
        [&](int64_t a, int64_t b) { return row[a] != row[b] ? (row[a] > row[b]) == largest_ : a < b; });
  }

  Order order_;
  bool largest_;
  int64_t size_, count_;
  std::array<int64_t, 3> steps_;  // along the axis: values, positions, input
  DType dtype_, index_dtype_;
  StridedLoop rows_;
};

}  // namespace

CreateResult createIntegers(const Problem& problem) {
  const DType dtype = problem.inputs.at(0).dtype;
  if (isFloating(dtype) || dtype == DType::kBool) {
    return Refusal{"dtype", std::string("orders integers only, not ") + toString(dtype)};
  }
  return makeKernelWithFallback<TopKOfIntegers>(readOrder(*problem.attributes), createTopKReference(problem));
}

}  // namespace torchtrt::kernels::topk
