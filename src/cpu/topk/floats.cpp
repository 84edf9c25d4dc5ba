// The greatest or smallest elements in float32 or float64: one of each row by vectors, more by sorting keys that hold
// value and position.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "cpu/loops/fallback.h"
#include "cpu/loops/loop_nest.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/storage/convert.h"
#include "cpu/threads/parallel.h"
#include "cpu/threads/thread_memory.h"
#include "cpu/topk/extremes.h"
#include "cpu/topk/fast.h"
#include "cpu/topk/key_sort.h"
#include "cpu/topk/ties.h"
#include "cpu/topk/topk.h"

namespace torchtrt::kernels::topk {
namespace {

// Strides of the other axes: values, positions, input.
std::vector<std::vector<int64_t>> stridesOfRows(const Order& config, const ShapeSet& shapes) {
  return {withoutAxis(shapes.outputs[0].strides, config.axis), withoutAxis(shapes.outputs[1].strides, config.axis),
          withoutAxis(shapes.inputs[0].strides, config.axis)};
}

// Returns keys whose unsigned order is that of the values, NaN the greatest, and then that of the positions.
template <typename Bits, typename T>
Bits orderOf(T value, bool largest) {
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  const auto bits = std::bit_cast<Bits>(value == 0 ? T(0) : value);
  Bits key = (bits & kSign) != 0 ? ~bits : bits | kSign;
  key = std::isnan(value) ? std::numeric_limits<Bits>::max() : key;
  return largest ? ~key : key;
}
uint64_t keyOf(float value, bool largest, int64_t position) {
  return static_cast<uint64_t>(orderOf<uint32_t>(value, largest)) << 32 | static_cast<uint64_t>(position);
}
WideKey keyOf(double value, bool largest, int64_t position) {
  return {orderOf<uint64_t>(value, largest), static_cast<uint64_t>(position)};
}

// Rows one by one.
template <typename T>
class TopKOfRows final : public Prepared {
 public:
  TopKOfRows(const Order& config, const ShapeSet& shapes)
      : order_(orderFor(config, shapes.inputs[0])),
        largest_(config.largest),
        size_(shapes.inputs[0].dims[config.axis]),
        count_(shapes.outputs[0].dims[config.axis]),
        steps_{shapes.outputs[0].strides[config.axis], shapes.outputs[1].strides[config.axis],
               shapes.inputs[0].strides[config.axis]},
        dtype_(shapes.inputs[0].dtype),
        index_dtype_(shapes.outputs[1].dtype),
        rows_(withoutAxis(shapes.inputs[0].dims, config.axis), stridesOfRows(config, shapes)) {}

  void run(const RunArgs& args) const override {
    const Extremes<T>& functions = extremes<T>(largest_);
    const Reader<T> reader(dtype_);
    const Writer<T> value_writer(dtype_);
    const Writer<int64_t> index_writer(index_dtype_);
    parallelFor(args.threads, 0, rows_.count(), grainFor((count_ == 1 ? 1 : 8) * size_),
                [&](int64_t begin, int64_t end) {
                  Buffers buffers;
                  buffers.row.resize(static_cast<size_t>(size_));
                  buffers.best.resize(static_cast<size_t>(count_));
                  buffers.places.resize(static_cast<size_t>(count_));
                  PyTorchOrder<T> as_pytorch(order_);
                  rows_.run(begin, end, 1, [&](const int64_t* offsets, const int64_t*, int64_t) {
                    const T* row = reader.view(args.inputs[0], offsets[2], steps_[2], size_, buffers.row.data());
                    if (count_ == 1) {
                      buffers.places[0] = functions.ofRow(row, size_);
                    } else {
                      sortFront(row, buffers);
                    }
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
  using Key = decltype(keyOf(T(), true, 0));

  struct Buffers {
    ThreadVector<T> row, best;
    ThreadVector<int64_t> places;
    ThreadVector<Key> keys, other;
  };

  void sortFront(const T* row, Buffers& buffers) const {
    constexpr int64_t kSmallPart = 8;
    ThreadVector<Key>& keys = buffers.keys;
    keys.clear();
    if (count_ < size_ / kSmallPart) {
      collectFront(row, keys);
      std::sort(keys.begin(), keys.end());
    } else {
      for (int64_t i = 0; i < size_; ++i) {
        keys.push_back(keyOf(row[i], largest_, i));
      }
      sortKeys(keys, buffers.other, count_, 8 * static_cast<int>(sizeof(T)));
    }
    for (size_t i = 0; i < buffers.places.size(); ++i) {
      buffers.places[i] = static_cast<int64_t>(positionOf(keys[i]));
    }
  }

  // Keys of the front and some more, in no order: what is not beyond the last of the front so far is passed over by
  // vectors.
  void collectFront(const T* row, ThreadVector<Key>& keys) const {
    const Extremes<T>& functions = extremes<T>(largest_);
    const int64_t most = std::min(size_, std::max<int64_t>(2 * count_, 64));
    int64_t i = 0;
    for (; i < most; ++i) {
      keys.push_back(keyOf(row[i], largest_, i));
    }
    while (i < size_) {
      const auto last = keys.begin() + count_ - 1;
      std::nth_element(keys.begin(), last, keys.end());
      keys.resize(static_cast<size_t>(count_));
      const T bound = row[positionOf(keys.back())];
      for (; i < size_ && static_cast<int64_t>(keys.size()) < most; ++i) {
        i = functions.findBeyond(row, i, size_, bound);
        if (i < size_) {
          keys.push_back(keyOf(row[i], largest_, i));
        }
      }
    }
  }

  Order order_;
  bool largest_;
  int64_t size_, count_;
  std::array<int64_t, 3> steps_;  // along the axis: values, positions, input
  DType dtype_, index_dtype_;
  StridedLoop rows_;
};

// One of each row, where rows lie side by side.
template <typename T>
class ExtremeOfColumns final : public Prepared {
 public:
  static bool accepts(const Order& config, const ShapeSet& shapes) {
    return config.ties == Ties::kFirst && shapes.outputs[0].dims[config.axis] == 1 &&
           shapes.inputs[0].strides[config.axis] != 1 && keptNest(config, shapes).steps()[2] == 1;
  }

  ExtremeOfColumns(const Order& config, const ShapeSet& shapes)
      : largest_(config.largest),
        size_(shapes.inputs[0].dims[config.axis]),
        step_(shapes.inputs[0].strides[config.axis]),
        dtype_(shapes.inputs[0].dtype),
        index_dtype_(shapes.outputs[1].dtype),
        kept_(keptNest(config, shapes)) {}

  void run(const RunArgs& args) const override {
    const Extremes<T>& functions = extremes<T>(largest_);
    const auto* in = static_cast<const T*>(args.inputs[0]);
    const Writer<T> value_writer(dtype_);
    const Writer<int64_t> index_writer(index_dtype_);
    kept_.run(args.threads, kColumns, grainFor(size_), [&](const LoopNest::Block& block) {
      alignas(64) std::array<T, kColumns> best;
      alignas(64) std::array<Place, kColumns> places;
      std::array<int64_t, kColumns> wide;
      for (int64_t row = 0; row < block.rows; ++row) {
        const auto offset = [&](size_t t) { return block.offsets[t] + row * block.row_strides[t]; };
        const T* from = in + offset(2);
        std::copy_n(from, block.length, best.data());
        places.fill(0);
        for (int64_t i = 1; i < size_; ++i) {
          functions.update(from + i * step_, static_cast<Place>(i), best.data(), places.data(), block.length);
        }
        std::copy_n(places.data(), block.length, wide.data());
        value_writer.write(best.data(), block.length, args.outputs[0], offset(0), block.steps[0]);
        index_writer.write(wide.data(), block.length, args.outputs[1], offset(1), block.steps[1]);
      }
    });
  }

 private:
  using Place = typename Extremes<T>::Place;
  static constexpr int64_t kColumns = 256;

  static LoopNest keptNest(const Order& config, const ShapeSet& shapes) {
    return {withoutAxis(shapes.inputs[0].dims, config.axis), stridesOfRows(config, shapes)};
  }

  bool largest_;
  int64_t size_, step_;
  DType dtype_, index_dtype_;
  LoopNest kept_;
};

template <typename T>
std::unique_ptr<Prepared> choose(const Order& config, const ShapeSet& shapes) {
  const TensorDesc& in = shapes.inputs[0];
  const int64_t size = in.dims.empty() ? 0 : in.dims[config.axis];
  const int64_t count = in.dims.empty() ? 0 : shapes.outputs[0].dims[config.axis];
  if (count == 0 || count > size || size > std::numeric_limits<int32_t>::max()) {
    return nullptr;
  }
  if (ExtremeOfColumns<T>::accepts(config, shapes)) {
    return std::make_unique<ExtremeOfColumns<T>>(config, shapes);
  }
  return std::make_unique<TopKOfRows<T>>(config, shapes);
}

}  // namespace

CreateResult createFloats(const Problem& problem) {
  const DType dtype = problem.inputs.at(0).dtype;
  if (dtype != DType::kFloat32 && dtype != DType::kFloat64) {
    return Refusal{"dtype", std::string("orders float32 and float64 only, not ") + toString(dtype)};
  }
  return makeKernelWithFallback<Order>(readOrder(*problem.attributes),
                                       dtype == DType::kFloat64 ? choose<double> : choose<float>,
                                       createTopKReference(problem));
}

}  // namespace torchtrt::kernels::topk
