// Row-major images in float32 or float64: the neighbours of a block of places are found once, and every channel gathers
// them by vectors of places.
#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/grid_sample/gathers.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <array>
#include <cstdint>
#include <type_traits>

#ifndef TORCHTRT_KERNELS_GRID_SAMPLE_GATHERS_CPP_
#define TORCHTRT_KERNELS_GRID_SAMPLE_GATHERS_CPP_
namespace torchtrt::kernels::grid_sample {

constexpr size_t kPlaces = 256;  // of a block: its table stays in the first-level cache

// Up to four elements of a plane for every place, each times two weights; those that weigh nothing do not count, be
// they NaN. Places behind the last weigh nothing.
template <typename T>
struct PlaceTable {
  using Offset = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;  // what a vector gathers by
  size_t taps;
  int64_t count;
  alignas(64) std::array<std::array<Offset, kPlaces>, 4> offsets;
  alignas(64) std::array<std::array<T, kPlaces>, 4> rows, columns;
};

template <typename T>
using SampleFunction = void (*)(const PlaceTable<T>& table, const T* plane, T* out);

}  // namespace torchtrt::kernels::grid_sample
#endif

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::grid_sample::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
void samplePlane(const PlaceTable<T>& table, const T* plane, T* out) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> integers;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto zero = hn::Zero(d);
  for (int64_t i = 0; i < table.count; i += lanes) {
    auto sum = zero;
    for (size_t t = 0; t < table.taps; ++t) {
      const auto row = hn::Load(d, table.rows[t].data() + i);
      const auto column = hn::Load(d, table.columns[t].data() + i);
      const auto value = hn::GatherIndex(d, plane, hn::Load(integers, table.offsets[t].data() + i));
      const auto counts = hn::And(hn::Ne(row, zero), hn::Ne(column, zero));
      sum = hn::Add(sum, hn::IfThenElseZero(counts, hn::Mul(hn::Mul(value, row), column)));
    }
    if (i + lanes <= table.count) {
      hn::StoreU(sum, d, out + i);
    } else {
      hn::BlendedStore(sum, hn::FirstN(d, static_cast<size_t>(table.count - i)), d, out + i);
    }
  }
}

SampleFunction<float> sampleOfFloats() {
  return samplePlane<float>;
}
SampleFunction<double> sampleOfDoubles() {
  return samplePlane<double>;
}

}  // namespace
}  // namespace torchtrt::kernels::grid_sample::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <limits>

#include "cpu/grid_sample/fast.h"
#include "cpu/grid_sample/grid_sample.h"
#include "cpu/grid_sample/neighbours.h"
#include "cpu/loops/fallback.h"
#include "cpu/loops/simple_kernel.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels::grid_sample {

HWY_EXPORT(sampleOfFloats);
HWY_EXPORT(sampleOfDoubles);

namespace {

template <typename T>
SampleFunction<T> sampleFunction() {
  if constexpr (std::is_same_v<T, float>) {
    return HWY_DYNAMIC_DISPATCH(sampleOfFloats)();
  } else {
    return HWY_DYNAMIC_DISPATCH(sampleOfDoubles)();
  }
}

bool hasDensePlanes(const TensorDesc& image) {
  return image.strides[3] == 1 && image.strides[2] == image.dims[3];
}

template <typename T>
class GatheredPlaces final : public Prepared {
 public:
  static bool accepts(const GridConfig&, const ShapeSet& shapes) {
    const TensorDesc& in = shapes.inputs[0];
    const TensorDesc& grid = shapes.inputs[1];
    const TensorDesc& out = shapes.outputs[0];
    // The reference takes the rest: volumes, empty images, and planes beyond the offsets of a vector.
    return in.dims.size() == 4 && countOf(in.dims) != 0 && countOf(out.dims) != 0 && hasDensePlanes(in) &&
           hasDensePlanes(out) && grid.strides[3] == 1 && grid.strides[2] == 2 && grid.strides[1] == 2 * grid.dims[2] &&
           in.dims[2] * in.dims[3] < std::numeric_limits<int32_t>::max();
  }

  GatheredPlaces(const GridConfig& config, const ShapeSet& shapes)
      : config_(config),
        function_(sampleFunction<T>()),
        in_(shapes.inputs[0]),
        grid_(shapes.inputs[1]),
        out_(shapes.outputs[0]) {}

  void run(const RunArgs& args) const override {
    constexpr auto kBlock = static_cast<int64_t>(kPlaces);
    const int64_t places = out_.dims[2] * out_.dims[3];
    const int64_t blocks = (places + kBlock - 1) / kBlock;
    const int64_t grain = grainFor(8 * kBlock * out_.dims[1]);
    parallelFor(args.threads, 0, out_.dims[0] * blocks, grain, [&](int64_t begin, int64_t end) {
      PlaceTable<T> table;
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t image = unit / blocks;
        const int64_t first = unit % blocks * kBlock;
        fill(table, static_cast<const T*>(args.inputs[1]) + image * grid_.strides[0] + 2 * first,
             std::min(kBlock, places - first));
        const T* plane = static_cast<const T*>(args.inputs[0]) + image * in_.strides[0];
        T* out = static_cast<T*>(args.outputs[0]) + image * out_.strides[0] + first;
        for (int64_t channel = 0; channel < out_.dims[1]; ++channel) {
          function_(table, plane + channel * in_.strides[1], out + channel * out_.strides[1]);
        }
      }
    });
  }

 private:
  void fill(PlaceTable<T>& table, const T* places, int64_t count) const {
    const Axis<T> height{in_.dims[2], config_};
    const Axis<T> width{in_.dims[3], config_};
    const size_t along = config_.mode == Mode::kNearest ? 1 : 2;  // neighbours along one axis
    table.taps = along * along;
    table.count = count;
    for (size_t i = 0; i < kPlaces; ++i) {
      Neighbours<T> y, x;
      if (i < static_cast<size_t>(count)) {
        y = neighboursOf(height, places[2 * i + 1]);
        x = neighboursOf(width, places[2 * i]);
      }
      for (size_t t = 0; t < table.taps; ++t) {
        table.offsets[t][i] =
            static_cast<typename PlaceTable<T>::Offset>(y.index[t / along] * in_.dims[3] + x.index[t % along]);
        table.rows[t][i] = y.weight[t / along];
        table.columns[t][i] = x.weight[t % along];
      }
    }
  }

  GridConfig config_;
  SampleFunction<T> function_;
  TensorDesc in_, grid_, out_;
};

}  // namespace

CreateResult createGathers(const Problem& problem) {
  const GridConfig config = readGridConfig(*problem.attributes);
  if (config.mode == Mode::kCubic) {
    return Refusal{"mode", "has no cubic interpolation"};
  }
  return createFloating(problem, [&](auto type) {
    return makeKernelWithFallback<GatheredPlaces<decltype(type)>>(config, createGridSampleReference(problem));
  });
}

}  // namespace torchtrt::kernels::grid_sample
#endif  // HWY_ONCE
