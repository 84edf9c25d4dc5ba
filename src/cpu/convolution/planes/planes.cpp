// Convolution with few outputs over row-major images, float32: vectors run along the width, so that no lane is empty
// where there are fewer outputs than lanes. Lines are read where they lie, or from copies where there is padding or the
// width has a stride.
#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/convolution/planes/planes.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "cpu/convolution/planes/planes.h"
#include "cpu/gemm/epilogue-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::convolution::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// The vectors of kOutputs outputs that begin at each of the columns. kPartial: the row is shorter than a vector.
template <int kOutputs, int kVectors, bool kPartial = false>
HWY_INLINE void tile(const PlanesRow& row, const int64_t (&columns)[kVectors]) {
  const D d;
  V sum[kOutputs][kVectors];
#pragma GCC unroll 16
  for (int o = 0; o < kOutputs; ++o) {
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) {
      sum[o][j] = row.bias != nullptr ? hn::Set(d, row.bias[o]) : hn::Zero(d);
    }
  }
  const float* weights = row.weights;
  for (int64_t line = 0; line < row.line_count; ++line) {
    for (int64_t k = 0; k < row.width_taps; ++k) {
      const float* from = row.lines[line] + row.tap_offsets[k];
      V x[kVectors];
#pragma GCC unroll 16
      for (int j = 0; j < kVectors; ++j) {
        x[j] = hn::LoadU(d, from + columns[j]);
      }
#pragma GCC unroll 16
      for (int o = 0; o < kOutputs; ++o) {
        const V weight = hn::Set(d, weights[o]);
#pragma GCC unroll 16
        for (int j = 0; j < kVectors; ++j) {
          sum[o][j] = hn::MulAdd(x[j], weight, sum[o][j]);
        }
      }
      weights += kOutputs;
    }
  }
  gemm::HWY_NAMESPACE::applyEpilogue<kOutputs * kVectors>(*row.epilogue, &sum[0][0]);
#pragma GCC unroll 16
  for (int o = 0; o < kOutputs; ++o) {
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) {
      float* out = row.out + o * row.out_stride + columns[j];
      if (kPartial) {
        hn::BlendedStore(sum[o][j], hn::FirstN(d, static_cast<size_t>(row.columns)), d, out);
      } else {
        hn::StoreU(sum[o][j], d, out);
      }
    }
  }
}

template <int kOutputs>
HWY_NOINLINE void outputs(const PlanesRow& row) {
  constexpr int kVectors = HWY_TARGET == HWY_AVX3 ? 2 : kOutputs <= 6 ? 2 : 1;  // by registers
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  if (row.columns < lanes) {
    tile<kOutputs, 1, true>(row, {0});
    return;
  }
  // The last vectors reach back over columns that are done already: they compute the same again.
  const int64_t last = row.columns - lanes;
  int64_t column = 0;
  if constexpr (kVectors == 2) {
    for (; column + lanes < row.columns; column += 2 * lanes) {
      tile<kOutputs, 2>(row, {column, std::min(column + lanes, last)});
    }
  }
  for (; column < row.columns; column += lanes) {
    tile<kOutputs, 1>(row, {std::min(column, last)});
  }
}

void runRow(const PlanesRow& row) {
  switch (row.outputs) {
    case 1:
      return outputs<1>(row);
    case 2:
      return outputs<2>(row);
    case 3:
      return outputs<3>(row);
    case 4:
      return outputs<4>(row);
    case 5:
      return outputs<5>(row);
    case 6:
      return outputs<6>(row);
    case 7:
      return outputs<7>(row);
    default:
      return outputs<8>(row);
  }
}

using PlanesFunction = void (*)(const PlanesRow&);
PlanesFunction planesForTarget(int64_t& lanes) {
  lanes = static_cast<int64_t>(hn::Lanes(D()));
  return runRow;
}

}  // namespace
}  // namespace torchtrt::kernels::convolution::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cpu/convolution/fast.h"
#include "cpu/convolution/planes/planes_band.h"
#include "cpu/threads/parallel.h"
#include "kernels/fusion.h"

namespace torchtrt::kernels::convolution {
namespace {

HWY_EXPORT(planesForTarget);

class Planes final : public Prepared {
 public:
  Planes(std::shared_ptr<const PackedPlanes> packed, const ShapeSet& shapes)
      : packed_(std::move(packed)), input_(imageOf(shapes.inputs[0])), output_(imageOf(shapes.outputs[0])) {
    const Geometry& g = packed_->geometry;
    if (needsCopies(*packed_, output_.size[2])) {
      band_.emplace(*packed_, input_, output_.size[2], output_.size[1]);
      return;
    }
    for (int64_t k = 0; k < g.kernel[2]; ++k) {
      tap_offsets_.push_back(k * g.dilation[2]);
    }
  }

  void run(const RunArgs& args) const override {
    const Geometry& g = packed_->geometry;
    const int64_t height = output_.size[1];
    const int64_t flops = 2 * output_.size[2] * g.outputs * g.channels * g.taps();
    const int64_t grain = std::max<int64_t>(1, gemm::kMinChunkFlops / std::max<int64_t>(1, flops));
    parallelFor(args.threads, 0, output_.batch * output_.size[0] * height, grain, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end;) {
        const Pixel first = {line / (output_.size[0] * height), line / height % output_.size[0], line % height, 0};
        const int64_t rows = std::min({end - line, height - first[2], band_ ? band_->rows() : 1});
        band_ ? runBand(args, first, rows) : runLine(args, first);
        line += rows;
      }
    });
  }

 private:
  PlanesRow rowAt(const RunArgs& args, const Pixel& pixel, const std::vector<int64_t>& tap_offsets,
                  const float* const* lines) const {
    const Geometry& g = packed_->geometry;
    PlanesRow row;
    row.lines = lines;
    row.line_count = packed_->lines;
    row.tap_offsets = tap_offsets.data();
    row.width_taps = g.kernel[2];
    row.weights = packed_->weights.data();
    row.bias = g.has_bias ? static_cast<const float*>(args.inputs[2]) : nullptr;
    row.outputs = g.outputs;
    row.out = static_cast<float*>(args.outputs[0]) + output_.offsetOf(pixel);
    row.out_stride = output_.channel_stride;
    row.columns = output_.size[2];
    row.epilogue = &packed_->epilogue;
    return row;
  }

  void runLine(const RunArgs& args, const Pixel& pixel) const {
    const Geometry& g = packed_->geometry;
    const float* lines[kMaxPlaneLines];
    const float* image = static_cast<const float*>(args.inputs[0]) + pixel[0] * input_.batch_stride;
    const float** end = lines;
    for (int64_t c = 0; c < g.channels; ++c) {
      end = findLines(g, input_, image + c * input_.channel_stride, pixel[1], pixel[2], end);
    }
    packed_->row(rowAt(args, pixel, tap_offsets_, lines));
  }

  // Neighbouring rows, block by block of their columns.
  void runBand(const RunArgs& args, Pixel pixel, int64_t rows) const {
    alignas(64) float buffer[kBandFloats];
    const float* lines[kMaxPlaneLines];
    const float* image = static_cast<const float*>(args.inputs[0]) + pixel[0] * input_.batch_stride;
    const int64_t first = pixel[2];
    for (; pixel[3] < output_.size[2]; pixel[3] += band_->columns()) {
      const int64_t columns = std::min(band_->columns(), output_.size[2] - pixel[3]);
      band_->fill(image, pixel[1], first, rows, pixel[3], columns, buffer);
      for (int64_t y = 0; y < rows; ++y) {
        pixel[2] = first + y;
        band_->findLines(buffer, y, lines);
        PlanesRow row = rowAt(args, pixel, band_->tapOffsets(), lines);
        row.columns = columns;
        packed_->row(row);
      }
    }
  }

  std::shared_ptr<const PackedPlanes> packed_;
  Image input_;
  Image output_;
  std::vector<int64_t> tap_offsets_;  // without a band
  std::optional<PlanesBand> band_;
};

class PlanesKernel final : public Kernel, public PoolsOutput {
 public:
  explicit PlanesKernel(std::shared_ptr<const PackedPlanes> packed) : packed_(std::move(packed)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return std::make_unique<Planes>(packed_, shapes);
  }
  Fused preparePooled(const ShapeSet& shapes) const override {
    return preparePooledPlanes(packed_, shapes);
  }
  bool needsConstant(int input) const override {
    return input != 1;
  }
  size_t packedBytes() const override {
    return packed_->weights.size() * sizeof(float);
  }
  bool acceptsStrides(int input, const TensorDesc& desc) const override {
    return input == 0 && desc.strides.back() == 1;
  }

 private:
  std::shared_ptr<const PackedPlanes> packed_;
};

std::shared_ptr<PackedPlanes> pack(const Geometry& g) {
  auto packed = std::make_shared<PackedPlanes>();
  packed->geometry = g;
  packed->row = HWY_DYNAMIC_DISPATCH(planesForTarget)(packed->lanes);
  packed->lines = g.channels * g.kernel[0] * g.kernel[1];
  packed->reach = (g.kernel[2] - 1) * g.dilation[2] / g.stride[2];
  const int64_t depth = g.channels * g.taps();
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t o = 0; o < g.outputs; ++o) {
      packed->weights.push_back(g.weights[o * depth + k]);
    }
  }
  packed->epilogue = gemm::makeEpilogue(g.activation, g.alpha, g.beta);
  return packed;
}

}  // namespace

bool needsCopies(const PackedPlanes& packed, int64_t columns) {
  const Geometry& g = packed.geometry;
  return g.stride[2] != 1 || g.pre_padding != Spatial{0, 0, 0} || g.post_padding != Spatial{0, 0, 0} ||
         columns < packed.lanes;
}

CreateResult createPlanes(const Problem& problem) {
  const std::variant<Geometry, Refusal> described = describe(problem);
  if (const Refusal* refusal = std::get_if<Refusal>(&described)) {
    return *refusal;
  }
  const Geometry& g = std::get<Geometry>(described);
  if (!isRowMajor(problem.inputs[0]) || !isRowMajor(problem.outputs[0])) {
    return Refusal{"memory-order", "reads and writes row-major only"};
  }
  if (g.groups != 1 || g.outputs < 1 || g.outputs > kMaxPlanes) {
    return Refusal{"wide", "computes 1 to 8 outputs in one group"};
  }
  if (g.has_residual) {
    return Refusal{"residual", "has no residual operand"};
  }
  std::shared_ptr<PackedPlanes> packed = pack(g);
  if (packed->lines > kMaxPlaneLines ||
      packed->lines * g.stride[2] * (kMinBlock + packed->reach + packed->lanes) > kBandFloats) {
    return Refusal{"large-kernel", "keeps the lines of a row on the stack, and there would be too many"};
  }
  return std::make_unique<PlanesKernel>(std::move(packed));
}

}  // namespace torchtrt::kernels::convolution
#endif  // HWY_ONCE
