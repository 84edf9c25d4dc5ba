// Casts, predicates, integer arithmetic and selections by functions over rows of any dtype.
#include <array>

#include "cpu/loops/simple_kernel.h"
#include "cpu/pointwise/fast.h"
#include "cpu/pointwise/rows/typed_rows.h"
#include "cpu/pointwise/vectors/over_blocks.h"
#include "cpu/storage/convert.h"
#include "cpu/storage/half_rows.h"

namespace torchtrt::kernels::pointwise {
namespace {

constexpr int64_t kBlock = 1024;  // elements

using Buffer = std::array<std::byte, kBlock * sizeof(int64_t)>;

struct RowsConfig {
  TypedRowFunction function;
  size_t operands;
  size_t first_repeated;  // operands from here on may have step 0
  bool one_repeated;      // but only one of them at a time
  HalfRows halves = {};   // empty unless operands are of 16 bits and the function takes them as float32
  Arithmetic what = {};
};

class RowsPrepared final : public OverBlocks<RowsPrepared, kBlock> {
 public:
  RowsPrepared(const RowsConfig& config, const ShapeSet& shapes)
      : OverBlocks(shapes, config.operands), config_(config), sizes_{sizeOf(shapes.outputs[0].dtype)} {
    size_t repeated = 0;
    for (size_t i = 0; i < config.operands; ++i) {
      sizes_[i + 1] = sizeOf(shapes.inputs[i].dtype);
      const int64_t step = steps()[i + 1];
      const bool repeats = step == 0 && i >= config.first_repeated && !(config.one_repeated && repeated != 0);
      repeated += repeats ? 1 : 0;
      in_place_[i] = step == 1 || repeats;
    }
  }

  const Arithmetic& what() const {
    return config_.what;
  }

  void runBlock(const RunArgs& args, const LoopNest::Block& block) const {
    alignas(64) std::array<Buffer, 4> buffers;
    alignas(64) std::array<std::array<float, kBlock>, 2> wide;
    for (int64_t row = 0; row < block.rows; ++row) {
      TypedRow typed{};
      typed.count = block.length;
      for (size_t i = 0; i < config_.operands; ++i) {
        const std::byte* from = at(static_cast<const std::byte*>(args.inputs[i]), block, row, i + 1);
        typed.in[i] = from;
        typed.steps[i] = block.steps[i + 1];
        if (!in_place_[i]) {
          copyRun(sizes_[i + 1], from, block.steps[i + 1], buffers[i + 1].data(), 1, block.length);
          typed.in[i] = buffers[i + 1].data();
          typed.steps[i] = 1;
        }
        if (config_.halves.widen != nullptr) {
          config_.halves.widen(typed.in[i], wide[i].data(), typed.steps[i] == 0 ? 1 : block.length);
          typed.in[i] = wide[i].data();
        }
      }
      std::byte* to = at(static_cast<std::byte*>(args.outputs[0]), block, row, 0);
      const bool dense = block.steps[0] == 1;
      typed.out = dense ? to : buffers[0].data();
      config_.function(typed);
      if (!dense) {
        copyRun(sizes_[0], buffers[0].data(), 1, to, block.steps[0], block.length);
      }
    }
  }

 private:
  template <typename Byte>
  Byte* at(Byte* base, const LoopNest::Block& block, int64_t row, size_t tensor) const {
    return base + (block.offsets[tensor] + row * block.row_strides[tensor]) * static_cast<int64_t>(sizes_[tensor]);
  }

  RowsConfig config_;
  std::array<size_t, 4> sizes_;     // of an element of the output and of every operand
  std::array<bool, 3> in_place_{};  // operands that are read where they lie
};

// Halves on either side become float32 on the way.
struct CastConfig {
  HalfRows from;              // empty unless the operand is of 16 bits
  TypedRowFunction function;  // null if nothing is left to do between them
  HalfRows to;
  Arithmetic what = {};
};

class CastPrepared final : public OverBlocks<CastPrepared, kBlock> {
 public:
  CastPrepared(const CastConfig& config, const ShapeSet& shapes)
      : OverBlocks(shapes, 1),
        config_(config),
        in_size_(sizeOf(shapes.inputs[0].dtype)),
        out_size_(sizeOf(shapes.outputs[0].dtype)) {}

  const Arithmetic& what() const {
    return config_.what;
  }

  void runBlock(const RunArgs& args, const LoopNest::Block& block) const {
    for (int64_t row = 0; row < block.rows; ++row) {
      castRow(static_cast<const std::byte*>(args.inputs[0]) +
                  (block.offsets[1] + row * block.row_strides[1]) * static_cast<int64_t>(in_size_),
              block.steps[1],
              static_cast<std::byte*>(args.outputs[0]) +
                  (block.offsets[0] + row * block.row_strides[0]) * static_cast<int64_t>(out_size_),
              block.steps[0], block.length);
    }
  }

 private:
  void castRow(const std::byte* from, int64_t from_step, std::byte* to, int64_t to_step, int64_t count) const {
    alignas(64) Buffer gathered, widened, narrow, result;
    const void* values = from;
    if (from_step != 1) {
      copyRun(in_size_, from, from_step, gathered.data(), 1, count);
      values = gathered.data();
    }
    void* const target = to_step == 1 ? static_cast<void*>(to) : result.data();
    if (config_.from.widen != nullptr) {
      const bool last = config_.function == nullptr && config_.to.narrow == nullptr;
      void* const wide = last ? target : widened.data();
      config_.from.widen(values, static_cast<float*>(wide), count);
      values = wide;
    }
    if (config_.function != nullptr) {
      void* const cast = config_.to.narrow == nullptr ? target : narrow.data();
      config_.function({{values}, {1}, cast, count});
      values = cast;
    }
    if (config_.to.narrow != nullptr) {
      config_.to.narrow(static_cast<const float*>(values), target, count);
    }
    if (to_step != 1) {
      copyRun(out_size_, result.data(), 1, to, to_step, count);
    }
  }

  CastConfig config_;
  size_t in_size_, out_size_;
};

Refusal noRows(const std::string& what) {
  return {"dtype", "has no rows for " + what};
}

// Returns the dtype in which functions of this dtype's operands compute.
DType widened(DType dtype) {
  return isHalf(dtype) ? DType::kFloat32 : dtype;
}
HalfRows wideningRows(DType dtype) {
  return isHalf(dtype) ? halfRows(dtype) : HalfRows{};
}

}  // namespace

CreateResult createCastRows(const Problem& problem) {
  const DType from = problem.inputs[0].dtype;
  const DType to = problem.outputs[0].dtype;
  CastConfig config{wideningRows(from), nullptr, wideningRows(to)};
  if (isHalf(from) && to == DType::kFloat32) {
    config.what.op = "widen";
    config.what.stored = from;
  } else if (from == DType::kFloat32 && isHalf(to)) {
    config.what.op = "narrow";
    config.what.stored = to;
  }
  const DType inner_from = widened(from);
  const DType inner_to = widened(to);
  if (inner_from != inner_to) {
    config.function = findCastRow(inner_from, inner_to);
  }
  if (from == to || (inner_from != inner_to && config.function == nullptr)) {
    return noRows(std::string(toString(from)) + " to " + toString(to));
  }
  return makeKernel<CastPrepared>(config);
}

CreateResult createUnaryRows(const Problem& problem) {
  const std::string& op = problem.attributes->getString("op");
  const DType in = problem.inputs[0].dtype;
  const DType out = problem.outputs[0].dtype;
  const TypedRowFunction function = findTypedUnaryRow(op, widened(in), out);
  if (function == nullptr) {
    return noRows(op + " of " + toString(in) + " to " + toString(out));
  }
  return makeKernel<RowsPrepared>(RowsConfig{function, 1, 1, false, wideningRows(in)});
}

CreateResult createElementwiseRows(const Problem& problem) {
  const std::string& op = problem.attributes->getString("op");
  const DType in = problem.inputs[0].dtype;
  const DType out = problem.outputs[0].dtype;
  TypedRowFunction function = findTypedBinaryRow(op, widened(in), out);
  if (function == nullptr && in == out) {
    function = findDivisionRow(op, in);
  }
  if (function == nullptr || problem.inputs[1].dtype != in) {
    return noRows(op + " of " + toString(in) + " to " + toString(out));
  }
  if (!problem.attributes->getString("activation", "").empty()) {
    return Refusal{"activation", "has no activation of integers"};
  }
  return makeKernel<RowsPrepared>(RowsConfig{function, 2, 0, true, wideningRows(in), {op, "", 0, 0, in}});
}

CreateResult createSelectRows(const Problem& problem) {
  const DType dtype = problem.outputs[0].dtype;
  return makeKernel<RowsPrepared>(
      RowsConfig{findSelectRow(sizeOf(dtype)), 3, 1, false, {}, {"select", "", 0, 0, dtype}});
}

}  // namespace torchtrt::kernels::pointwise
