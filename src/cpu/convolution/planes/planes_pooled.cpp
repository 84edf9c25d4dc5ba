// Convolution with few outputs over row-major images and the maxima of two by two of its pixels, float32: two lines of
// the result are computed together and never stored. Bits are those of planes.cpp and pooling/planes.cpp one after the
// other.
#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/convolution/planes/planes_pooled.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "cpu/convolution/planes/planes.h"
#include "cpu/gemm/epilogue-inl.h"
#include "cpu/simd/pairs-inl.h"

#ifndef TORCHTRT_KERNELS_CONVOLUTION_PLANES_POOLED_ROW_
#define TORCHTRT_KERNELS_CONVOLUTION_PLANES_POOLED_ROW_
namespace torchtrt::kernels::convolution {

// Two lines of the convolution, one of maxima.
struct PooledRow {
  const PackedPlanes* packed;
  const float* const* lines[2];  // as PlanesRow::lines
  const int64_t* tap_offsets;    // as PlanesRow::tap_offsets
  const float* bias;             // null or one per output
  float* out;                    // column 0 of the first output
  int64_t out_stride;            // from output to output
  int64_t columns;               // maxima, at least as many as the instruction set's function takes
};

}  // namespace torchtrt::kernels::convolution
#endif

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::convolution::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
namespace math = kernels::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Outputs whose sums over two lines and two vectors leave some of 32 registers, or of 16.
constexpr int kMostOutputs = HWY_TARGET == HWY_AVX3 ? 6 : 3;
// Rows of maxima may be shorter than a vector where to load and store a part takes no longer.
constexpr bool kTakesParts = HWY_TARGET == HWY_AVX3;

// A vector of maxima from `column` on, of kOutputs outputs from `first` on. kPart: of a row that is shorter, but longer
// than half a vector, so that only the second vector of a line would reach behind it.
template <int kOutputs, bool kPart>
HWY_INLINE void tile(const PooledRow& row, int64_t first, int64_t column) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const PackedPlanes& packed = *row.packed;
  const Geometry& g = packed.geometry;
  V sum[kOutputs][4];  // of the upper line two vectors, then of the lower
#pragma GCC unroll 16
  for (int o = 0; o < kOutputs; ++o) {
#pragma GCC unroll 16
    for (int j = 0; j < 4; ++j) {
      sum[o][j] = row.bias != nullptr ? hn::Set(d, row.bias[first + o]) : hn::Zero(d);
    }
  }
  const float* weights = packed.weights.data() + first;
  const int64_t width_taps = g.kernel[2];
  const int64_t outputs = g.outputs;
  const int64_t line_count = packed.lines;
  const auto rest = hn::FirstN(d, static_cast<size_t>(kPart ? 2 * row.columns - lanes : lanes));
  const auto second = [&](const float* from) HWY_ATTR {
    return kPart ? hn::MaskedLoad(rest, d, from + lanes) : hn::LoadU(d, from + lanes);
  };
  for (int64_t line = 0; line < line_count; ++line) {
    const float* upper = row.lines[0][line] + 2 * column;
    const float* lower = row.lines[1][line] + 2 * column;
    for (int64_t k = 0; k < width_taps; ++k) {
      const int64_t at = row.tap_offsets[k];
      const V x[4] = {hn::LoadU(d, upper + at), second(upper + at), hn::LoadU(d, lower + at), second(lower + at)};
#pragma GCC unroll 16
      for (int o = 0; o < kOutputs; ++o) {
        const V weight = hn::Set(d, weights[o]);
#pragma GCC unroll 16
        for (int j = 0; j < 4; ++j) {
          sum[o][j] = hn::MulAdd(x[j], weight, sum[o][j]);
        }
      }
      weights += outputs;
    }
  }
  gemm::HWY_NAMESPACE::applyEpilogue<kOutputs * 4>(packed.epilogue, &sum[0][0]);
#pragma GCC unroll 16
  for (int o = 0; o < kOutputs; ++o) {
    const V left = math::greater(sum[o][0], sum[o][2]);
    const V right = math::greater(sum[o][1], sum[o][3]);
    const V maxima = math::greater(math::even(left, right), math::odd(left, right));
    float* out = row.out + (first + o) * row.out_stride + column;
    if (kPart) {
      hn::BlendedStore(maxima, hn::FirstN(d, static_cast<size_t>(row.columns)), d, out);
    } else {
      hn::StoreU(maxima, d, out);
    }
  }
}

template <int kOutputs>
HWY_NOINLINE void outputs(const PooledRow& row, int64_t first) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  if constexpr (kTakesParts) {
    if (row.columns < lanes) {
      tile<kOutputs, true>(row, first, 0);
      return;
    }
  }
  const int64_t last = row.columns - lanes;  // reaches back over what is done already
  for (int64_t column = 0; column < row.columns; column += lanes) {
    tile<kOutputs, false>(row, first, std::min(column, last));
  }
}

// Outputs are shared out as evenly as can be: a single one's sums would wait for each other.
void runRow(const PooledRow& row) {
  const auto count = static_cast<int>(row.packed->geometry.outputs);
  for (int first = 0; first < count;) {
    const int shares = (count - first + kMostOutputs - 1) / kMostOutputs;
    const int now = (count - first + shares - 1) / shares;
    switch (now) {
      case 1:
        outputs<1>(row, first);
        break;
      case 2:
        outputs<2>(row, first);
        break;
      case 3:
        outputs<3>(row, first);
        break;
      case 4:
        outputs<std::min(4, kMostOutputs)>(row, first);
        break;
      case 5:
        outputs<std::min(5, kMostOutputs)>(row, first);
        break;
      default:
        outputs<kMostOutputs>(row, first);
        break;
    }
    first += now;
  }
}

using PooledFunction = void (*)(const PooledRow&);
PooledFunction pooledForTarget(int64_t& least_columns) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  least_columns = kTakesParts ? lanes / 2 + 1 : lanes;
  return runRow;
}

}  // namespace
}  // namespace torchtrt::kernels::convolution::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <optional>
#include <utility>
#include <vector>

#include "cpu/convolution/planes/planes_band.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels::convolution {
namespace {

HWY_EXPORT(pooledForTarget);

class PooledPlanes final : public Prepared {
 public:
  PooledPlanes(std::shared_ptr<const PackedPlanes> packed, const ShapeSet& shapes, std::optional<PlanesBand> band,
               void (*function)(const PooledRow&))
      : packed_(std::move(packed)),
        input_(imageOf(shapes.inputs[0])),
        output_(imageOf(shapes.outputs[0])),
        band_(std::move(band)),
        function_(function) {
    for (int64_t k = 0; k < packed_->geometry.kernel[2]; ++k) {
      tap_offsets_.push_back(band_ ? band_->tapOffsets()[static_cast<size_t>(k)] : k * packed_->geometry.dilation[2]);
    }
  }

  void run(const RunArgs& args) const override {
    const Geometry& g = packed_->geometry;
    const int64_t height = output_.size[1];
    const int64_t flops = 8 * output_.size[2] * g.outputs * g.channels * g.taps();
    const int64_t grain = std::max<int64_t>(1, gemm::kMinChunkFlops / std::max<int64_t>(1, flops));
    parallelFor(args.threads, 0, output_.batch * height, grain, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end;) {
        const int64_t y = line % height;
        const int64_t rows = std::min({end - line, height - y, band_ ? band_->rows() / 2 : 1});
        band_ ? runBand(args, line / height, y, rows) : runLine(args, line / height, y);
        line += rows;
      }
    });
  }

 private:
  PooledRow rowAt(const RunArgs& args, int64_t n, int64_t y, const float* const* upper,
                  const float* const* lower) const {
    PooledRow row;
    row.packed = packed_.get();
    row.lines[0] = upper;
    row.lines[1] = lower;
    row.tap_offsets = tap_offsets_.data();
    row.bias = packed_->geometry.has_bias ? static_cast<const float*>(args.inputs[2]) : nullptr;
    row.out = static_cast<float*>(args.outputs[0]) + n * output_.batch_stride + y * output_.stride[1];
    row.out_stride = output_.channel_stride;
    row.columns = output_.size[2];
    return row;
  }

  void runLine(const RunArgs& args, int64_t n, int64_t y) const {
    const Geometry& g = packed_->geometry;
    const float* lines[2][kMaxPlaneLines];
    const float* image = static_cast<const float*>(args.inputs[0]) + n * input_.batch_stride;
    for (int64_t half = 0; half < 2; ++half) {
      const float** end = lines[half];
      for (int64_t c = 0; c < g.channels; ++c) {
        end = findLines(g, input_, image + c * input_.channel_stride, 0, 2 * y + half, end);
      }
    }
    function_(rowAt(args, n, y, lines[0], lines[1]));
  }

  // `rows` rows of maxima, block by block of their columns; the last block reaches back over what is done already.
  void runBand(const RunArgs& args, int64_t n, int64_t first, int64_t rows) const {
    alignas(64) float buffer[kBandFloats];
    const float* lines[2][kMaxPlaneLines];
    const float* image = static_cast<const float*>(args.inputs[0]) + n * input_.batch_stride;
    const int64_t block = band_->columns() / 2;
    for (int64_t column = 0; column < output_.size[2]; column += block) {
      const int64_t at = std::min(column, output_.size[2] - block);
      band_->fill(image, 0, 2 * first, 2 * rows, 2 * at, 2 * block, buffer);
      for (int64_t y = 0; y < rows; ++y) {
        band_->findLines(buffer, 2 * y, lines[0]);
        band_->findLines(buffer, 2 * y + 1, lines[1]);
        PooledRow row = rowAt(args, n, first + y, lines[0], lines[1]);
        row.out += at;
        row.columns = block;
        function_(row);
      }
    }
  }

  std::shared_ptr<const PackedPlanes> packed_;
  Image input_;
  Image output_;                    // the maxima
  std::optional<PlanesBand> band_;  // where lines are copied
  std::vector<int64_t> tap_offsets_;
  void (*function_)(const PooledRow&);
};

}  // namespace

Fused preparePooledPlanes(std::shared_ptr<const PackedPlanes> packed, const ShapeSet& shapes) {
  const Geometry& g = packed->geometry;
  const Image maxima = imageOf(shapes.outputs[0]);
  int64_t least_columns = 0;
  const auto function = HWY_DYNAMIC_DISPATCH(pooledForTarget)(least_columns);
  const bool is_dense = shapes.outputs[0].strides == denseStrides(shapes.outputs[0].dims);
  if (g.spatial_rank != 2 || !is_dense) {
    return Refusal{"layout", "needs dense row-major maxima of two spatial dims"};
  }
  if (maxima.size[2] < least_columns) {
    return Refusal{"size", "a line of maxima is shorter than a vector"};
  }
  std::optional<PlanesBand> band;
  if (needsCopies(*packed, 2 * maxima.size[2])) {
    band.emplace(*packed, imageOf(shapes.inputs[0]), 2 * maxima.size[2], 2 * maxima.size[1]);
    if (band->rows() < 2 || band->columns() < 2 * least_columns) {
      return Refusal{"size", "two padded lines do not fit the buffer"};
    }
  }
  return std::make_unique<PooledPlanes>(std::move(packed), shapes, std::move(band), function);
}

}  // namespace torchtrt::kernels::convolution
#endif  // HWY_ONCE
