#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <type_traits>

#include "cpu/loops/simple_kernel.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/movement/checked_index.h"
#include "cpu/movement/copy_loop.h"
#include "cpu/movement/movement.h"
#include "cpu/storage/convert.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels {
namespace {

struct GatherConfig {
  bool by_element = false;
  size_t axis = 0;
  bool negative = true;
};

// Strides of data and indices along the output's axes: an axis that does not move through a tensor has stride 0 there.
std::vector<int64_t> dataStrides(const GatherConfig& config, const ShapeSet& shapes) {
  std::vector<int64_t> strides = shapes.inputs.at(0).strides;
  if (config.by_element) {
    strides.at(config.axis) = 0;
    return strides;
  }
  const auto axis = strides.begin() + static_cast<std::ptrdiff_t>(config.axis);
  strides.insert(strides.erase(axis), shapes.inputs.at(1).dims.size(), 0);
  return strides;
}

StridedLoop gatherLoop(const GatherConfig& config, const ShapeSet& shapes) {
  const TensorDesc& indices = shapes.inputs.at(1);
  const TensorDesc& out = shapes.outputs.at(0);
  std::vector<int64_t> index_strides = indices.strides;
  if (!config.by_element) {
    index_strides.assign(out.dims.size(), 0);
    std::copy(indices.strides.begin(), indices.strides.end(),
              index_strides.begin() + static_cast<std::ptrdiff_t>(config.axis));
  }
  return {out.dims, {out.strides, dataStrides(config, shapes), index_strides}};
}

// Slices that lie in one piece, in data and output: [before][axis][slice] becomes [before][indices][slice].
struct Slices {
  int64_t indices = 0;  // 0: they do not
  int64_t length = 1;

  Slices(const GatherConfig& config, const ShapeSet& shapes) {
    constexpr int64_t kShort = 4;  // elements that are faster picked one by one
    const TensorDesc& data = shapes.inputs.at(0);
    const bool dense = data.strides == denseStrides(data.dims) &&
                       shapes.outputs.at(0).strides == denseStrides(shapes.outputs[0].dims) &&
                       shapes.inputs.at(1).strides == denseStrides(shapes.inputs[1].dims);
    if (config.by_element || !dense) {
      return;
    }
    for (size_t axis = config.axis + 1; axis < data.dims.size(); ++axis) {
      length *= data.dims[axis];
    }
    indices = length > kShort ? countOf(shapes.inputs[1].dims) : 0;
  }
};

class GatherPrepared final : public Prepared {
 public:
  GatherPrepared(const GatherConfig& config, const ShapeSet& shapes)
      : loop_(gatherLoop(config, shapes)),
        slices_(config, shapes),
        index_dtype_(shapes.inputs[1].dtype),
        size_(static_cast<int64_t>(sizeOf(shapes.outputs[0].dtype))),
        axis_size_(shapes.inputs[0].dims.at(config.axis)),
        axis_stride_(shapes.inputs[0].strides.at(config.axis)),
        negative_(config.negative) {
    if (slices_.indices == 0 && countOf(shapes.inputs[1].dims) == 1) {
      const TensorDesc& out = shapes.outputs[0];
      slice_.emplace(out.dtype, out.dims, out.strides, dataStrides(config, shapes));
    }
  }

  void run(const RunArgs& args) const override {
    const Reader<int64_t> indices(index_dtype_);
    const auto* data = static_cast<const std::byte*>(args.inputs[0]);
    auto* out = static_cast<std::byte*>(args.outputs[0]);
    if (slices_.indices > 0) {
      return runSlices(args);
    }
    if (slice_) {
      slice_->run(args.threads, data + checked(indices.one(args.inputs[1], 0)) * axis_stride_ * size_, out);
      return;
    }
    parallelFor(args.threads, 0, loop_.count(), grainFor(2), [&](int64_t begin, int64_t end) {
      std::array<int64_t, kRun> run;
      loop_.run(begin, end, kRun, [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
        const std::byte* from = data + offsets[1] * size_;
        std::byte* to = out + offsets[0] * size_;
        if (steps[2] == 0) {  // a run inside one slice of the data has one index
          const int64_t source = checked(indices.one(args.inputs[1], offsets[2])) * axis_stride_;
          copyRun(static_cast<size_t>(size_), from + source * size_, steps[1], to, steps[0], n);
          return;
        }
        const int64_t* picked = indices.view(args.inputs[1], offsets[2], steps[2], n, run.data());
        switch (size_) {
          case 1:
            return pick<uint8_t>(picked, from, steps[1], to, steps[0], n);
          case 2:
            return pick<uint16_t>(picked, from, steps[1], to, steps[0], n);
          case 4:
            return pick<uint32_t>(picked, from, steps[1], to, steps[0], n);
          default:
            return pick<uint64_t>(picked, from, steps[1], to, steps[0], n);
        }
      });
    });
  }

 private:
  void runSlices(const RunArgs& args) const {
    const Reader<int64_t> reader(index_dtype_);
    const auto* data = static_cast<const std::byte*>(args.inputs[0]);
    auto* out = static_cast<std::byte*>(args.outputs[0]);
    const int64_t bytes = slices_.length * size_;
    const int64_t count = loop_.count() / slices_.length;
    parallelFor(args.threads, 0, count, grainFor(slices_.length), [&](int64_t begin, int64_t end) {
      std::array<int64_t, kRun> run;
      for (int64_t slice = begin; slice < end;) {
        const int64_t first = slice % slices_.indices;
        const int64_t n = std::min({kRun, end - slice, slices_.indices - first});
        const int64_t* indices = reader.view(args.inputs[1], first, 1, n, run.data());
        const std::byte* from = data + slice / slices_.indices * axis_size_ * bytes;
        for (int64_t i = 0; i < n; ++i) {
          const bool inside = static_cast<uint64_t>(indices[i]) < static_cast<uint64_t>(axis_size_);
          const int64_t index = inside ? indices[i] : checked(indices[i]);
          std::memcpy(out + (slice + i) * bytes, from + index * bytes, static_cast<size_t>(bytes));
        }
        slice += n;
      }
    });
  }

  // Every element has an index of its own.
  template <typename Element>
  void pick(const int64_t* indices, const std::byte* source, int64_t source_step, std::byte* target,
            int64_t target_step, int64_t count) const {
    const auto* from = reinterpret_cast<const Element*>(source);
    auto* to = reinterpret_cast<Element*>(target);
    const auto size = static_cast<uint64_t>(axis_size_);
    const auto pickEach = [&](auto to_step, auto from_step, auto index_step) {
      for (int64_t i = 0; i < count; ++i) {
        int64_t index = indices[i];
        if (static_cast<uint64_t>(index) >= size) {
          index = checked(index);
        }
        to[i * to_step] = from[i * from_step + index * index_step];
      }
    };
    constexpr std::integral_constant<int64_t, 0> kZero;
    constexpr std::integral_constant<int64_t, 1> kOne;
    if (target_step == 1 && source_step == 0 && axis_stride_ == 1) {
      return pickEach(kOne, kZero, kOne);
    }
    pickEach(target_step, source_step, axis_stride_);
  }

  int64_t checked(int64_t index) const {
    return checkedIndex(index, axis_size_, negative_, "gather");
  }

  StridedLoop loop_;
  Slices slices_;
  std::optional<CopyLoop> slice_;  // all that one index picks, where it lies in many pieces
  DType index_dtype_;
  int64_t size_, axis_size_, axis_stride_;
  bool negative_;
};

}  // namespace

CreateResult createGatherReference(const Problem& problem) {
  const Attributes& attributes = *problem.attributes;
  return makeKernel<GatherPrepared>(GatherConfig{attributes.getString("mode") == "element",
                                                 static_cast<size_t>(attributes.getInt("axis")),
                                                 attributes.getBool("negative", true)});
}

}  // namespace torchtrt::kernels
