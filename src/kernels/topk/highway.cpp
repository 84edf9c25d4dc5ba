// The greatest or smallest elements in float32: one of each row by vectors, more by sorting numbers that hold value and
// position.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/common/convert.h"
#include "kernels/common/fallback.h"
#include "kernels/common/loop_nest.h"
#include "kernels/common/simple_kernel.h"
#include "kernels/common/strided_loop.h"
#include "kernels/parallel.h"
#include "kernels/topk/extremes.h"
#include "kernels/topk/fast.h"
#include "kernels/topk/key_sort.h"
#include "kernels/topk/topk.h"

namespace torchtrt::kernels::topk {
namespace {

struct Config {
  size_t axis = 0;
  bool largest = true;
};

// Strides of the other axes: values, positions, input.
std::vector<std::vector<int64_t>> stridesOfRows(const Config& config, const ShapeSet& shapes) {
  return {withoutAxis(shapes.outputs[0].strides, config.axis), withoutAxis(shapes.outputs[1].strides, config.axis),
          withoutAxis(shapes.inputs[0].strides, config.axis)};
}

// Whose unsigned order is that of the values, NaN the greatest, and then that of the positions.
uint64_t keyOf(float value, bool largest, size_t position) {
  const auto bits = std::bit_cast<uint32_t>(value == 0 ? 0.0F : value);
  uint32_t key = (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
  key = std::isnan(value) ? std::numeric_limits<uint32_t>::max() : key;
  return static_cast<uint64_t>(largest ? ~key : key) << 32 | position;
}

// Rows one by one.
class TopKOfRows final : public Prepared {
 public:
  TopKOfRows(const Config& config, const ShapeSet& shapes)
      : largest_(config.largest),
        size_(shapes.inputs[0].dims[config.axis]),
        count_(shapes.outputs[0].dims[config.axis]),
        steps_{shapes.outputs[0].strides[config.axis], shapes.outputs[1].strides[config.axis],
               shapes.inputs[0].strides[config.axis]},
        index_dtype_(shapes.outputs[1].dtype),
        rows_(withoutAxis(shapes.inputs[0].dims, config.axis), stridesOfRows(config, shapes)) {}

  void run(const RunArgs& args) const override {
    const Extremes& functions = extremes(largest_);
    const Reader<float> reader(DType::kFloat32);
    const Writer<float> value_writer(DType::kFloat32);
    const Writer<int64_t> index_writer(index_dtype_);
    parallelFor(args.threads, 0, rows_.count(), grainFor((count_ == 1 ? 1 : 8) * size_),
                [&](int64_t begin, int64_t end) {
                  Buffers buffers;
                  buffers.row.resize(static_cast<size_t>(size_));
                  buffers.best.resize(static_cast<size_t>(count_));
                  buffers.places.resize(static_cast<size_t>(count_));
                  rows_.run(begin, end, 1, [&](const int64_t* offsets, const int64_t*, int64_t) {
                    const float* row = reader.view(args.inputs[0], offsets[2], steps_[2], size_, buffers.row.data());
                    if (count_ == 1) {
                      buffers.places[0] = functions.ofRow(row, size_);
                      buffers.best[0] = row[buffers.places[0]];
                    } else {
                      sortFront(row, buffers);
                    }
                    value_writer.write(buffers.best.data(), count_, args.outputs[0], offsets[0], steps_[0]);
                    index_writer.write(buffers.places.data(), count_, args.outputs[1], offsets[1], steps_[1]);
                  });
                });
  }

 private:
  struct Buffers {
    std::vector<float> row, best;
    std::vector<int64_t> places;
    std::vector<uint64_t> keys, other;
  };

  void sortFront(const float* row, Buffers& buffers) const {
    std::vector<uint64_t>& keys = buffers.keys;
    keys.resize(static_cast<size_t>(size_));
    for (size_t i = 0; i < keys.size(); ++i) {
      keys[i] = keyOf(row[i], largest_, i);
    }
    sortKeys(keys, buffers.other, count_, 32);
    for (size_t i = 0; i < buffers.best.size(); ++i) {
      const auto place = static_cast<uint32_t>(keys[i]);
      buffers.places[i] = place;
      buffers.best[i] = row[place];
    }
  }

  bool largest_;
  int64_t size_, count_;
  std::array<int64_t, 3> steps_;  // along the axis: values, positions, input
  DType index_dtype_;
  StridedLoop rows_;
};

// One of each row, where rows lie side by side.
class ExtremeOfColumns final : public Prepared {
 public:
  static bool accepts(const Config& config, const ShapeSet& shapes) {
    return shapes.outputs[0].dims[config.axis] == 1 && shapes.inputs[0].strides[config.axis] != 1 &&
           keptNest(config, shapes).steps()[2] == 1;
  }

  ExtremeOfColumns(const Config& config, const ShapeSet& shapes)
      : largest_(config.largest),
        size_(shapes.inputs[0].dims[config.axis]),
        step_(shapes.inputs[0].strides[config.axis]),
        index_dtype_(shapes.outputs[1].dtype),
        kept_(keptNest(config, shapes)) {}

  void run(const RunArgs& args) const override {
    const Extremes& functions = extremes(largest_);
    const auto* in = static_cast<const float*>(args.inputs[0]);
    const Writer<float> value_writer(DType::kFloat32);
    const Writer<int64_t> index_writer(index_dtype_);
    kept_.run(args.threads, kColumns, grainFor(size_), [&](const LoopNest::Block& block) {
      alignas(64) std::array<float, kColumns> best;
      alignas(64) std::array<int32_t, kColumns> places;
      std::array<int64_t, kColumns> wide;
      for (int64_t row = 0; row < block.rows; ++row) {
        const auto offset = [&](size_t t) { return block.offsets[t] + row * block.row_strides[t]; };
        const float* from = in + offset(2);
        std::copy_n(from, block.length, best.data());
        places.fill(0);
        for (int64_t i = 1; i < size_; ++i) {
          functions.update(from + i * step_, static_cast<int32_t>(i), best.data(), places.data(), block.length);
        }
        std::copy_n(places.data(), block.length, wide.data());
        value_writer.write(best.data(), block.length, args.outputs[0], offset(0), block.steps[0]);
        index_writer.write(wide.data(), block.length, args.outputs[1], offset(1), block.steps[1]);
      }
    });
  }

 private:
  static constexpr int64_t kColumns = 256;

  static LoopNest keptNest(const Config& config, const ShapeSet& shapes) {
    return {withoutAxis(shapes.inputs[0].dims, config.axis), stridesOfRows(config, shapes)};
  }

  bool largest_;
  int64_t size_, step_;
  DType index_dtype_;
  LoopNest kept_;
};

std::unique_ptr<Prepared> choose(const Config& config, const ShapeSet& shapes) {
  const TensorDesc& in = shapes.inputs[0];
  const int64_t size = in.dims.empty() ? 0 : in.dims[config.axis];
  const int64_t count = in.dims.empty() ? 0 : shapes.outputs[0].dims[config.axis];
  if (count == 0 || count > size || size > std::numeric_limits<int32_t>::max()) {
    return nullptr;
  }
  if (ExtremeOfColumns::accepts(config, shapes)) {
    return std::make_unique<ExtremeOfColumns>(config, shapes);
  }
  return std::make_unique<TopKOfRows>(config, shapes);
}

}  // namespace

CreateResult createHighway(const Problem& problem) {
  if (problem.inputs.at(0).dtype != DType::kFloat32) {
    return float32Only(toString(problem.inputs[0].dtype));
  }
  return makeKernelWithFallback<Config>(
      {static_cast<size_t>(problem.attributes->getInt("axis")), problem.attributes->getBool("largest", true)}, choose,
      createTopKReference(problem));
}

}  // namespace torchtrt::kernels::topk
