#include "cpu/quantized/weights/weight_product.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/quantized/weights/weight_product.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <utility>

#include "cpu/gemm/epilogue-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::quantized::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<D>;
using DU = hn::RebindToUnsigned<D>;
using V = hn::Vec<D>;

// Sums, a vector of weights and a broadcast value have to fit the vector registers: 32 with AVX-512, 16 before.
constexpr int kMostVectors = HWY_TARGET == HWY_AVX3 ? 4 : 3;
// Longer groups are summed in parts: the longer a sum of float32, the further it is from the exact one.
constexpr int64_t kMostSummed = 256;
// The bytes between what is multiplied and what is fetched: the next pages, which the CPU does not fetch by itself.
constexpr int64_t kAhead = 4096;

// The float32 value of each half of a byte: in registers, or as bits.
struct Halves {
#if HWY_TARGET == HWY_AVX3
  V table;
  Halves() {
    HWY_ALIGN static constexpr float kValues[16] = {0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1};
    table = hn::Load(D(), kValues);
  }
  // Number kHalf of each lane. The instruction reads the low four bits of an index alone.
  template <int kHalf>
  HWY_INLINE V value(hn::Vec<DU> line) const {
    return V{_mm512_permutexvar_ps(hn::ShiftRight<4 * kHalf>(line).raw, table.raw)};
  }
#else
  template <int kHalf>
  HWY_INLINE V value(hn::Vec<DU> line) const {
    const auto raised = hn::BitCast(DI(), hn::ShiftLeft<28 - 4 * kHalf>(line));
    return hn::ConvertTo(D(), hn::ShiftRight<28>(raised));
  }
#endif
};

HWY_INLINE V loadBytes(const std::byte* from) {
  const hn::Rebind<int8_t, D> d8;
  return hn::ConvertTo(D(), hn::PromoteTo(DI(), hn::LoadU(d8, reinterpret_cast<const int8_t*>(from))));
}

// sums += number kHalf of each lane times as many of each row of a.
template <int kHalf, int kRows, int kVectors>
HWY_INLINE void addHalf(const Halves& halves, const hn::Vec<DU> (&lines)[kVectors], const float* const (&a)[kRows],
                        int64_t k, V (&sums)[kRows][kVectors]) {
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    const V weights = halves.template value<kHalf>(lines[j]);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      sums[r][j] = hn::MulAdd(hn::Set(D(), a[r][k + kHalf]), weights, sums[r][j]);
    }
  }
}

// The same of all of a line of 4 bits.
template <int kRows, int kVectors, int... kHalf>
HWY_INLINE void addHalves(const Halves& halves, const std::byte* b, const float* const (&a)[kRows], int64_t k,
                          V (&sums)[kRows][kVectors], std::integer_sequence<int, kHalf...>) {
  const DU du;
  const auto lanes = static_cast<int64_t>(hn::Lanes(du));
  hn::Vec<DU> lines[kVectors];
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    lines[j] = hn::LoadU(du, reinterpret_cast<const uint32_t*>(b) + j * lanes);
    __builtin_prefetch(b + 4 * j * lanes + kAhead, 0, 3);
  }
  (addHalf<kHalf>(halves, lines, a, k, sums), ...);
}

// The same of a line of 8 bits.
template <int kRows, int kVectors>
HWY_INLINE void addBytes(const std::byte* b, const float* const (&a)[kRows], int64_t k, V (&sums)[kRows][kVectors]) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  __builtin_prefetch(b + kAhead, 0, 3);
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    const V weights = loadBytes(b + j * lanes);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      sums[r][j] = hn::MulAdd(hn::Set(D(), a[r][k]), weights, sums[r][j]);
    }
  }
}

template <int kRows, int kVectors>
HWY_INLINE void finish(const DirectProduct& product, V (&totals)[kRows][kVectors]) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const WeightPanel& panel = *product.panel;
  hn::Mask<D> masks[kVectors];
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    masks[j] = hn::FirstN(d, static_cast<size_t>(std::max<int64_t>(panel.valid - j * lanes, 0)));
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    const int64_t first = r * product.out_stride + panel.column;
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      if (product.bias != nullptr) {
        totals[r][j] = hn::Add(totals[r][j], hn::MaskedLoad(masks[j], d, product.bias + panel.column + j * lanes));
      }
      if (product.residual != nullptr) {
        totals[r][j] = hn::Add(totals[r][j], hn::MaskedLoad(masks[j], d, product.residual + first + j * lanes));
      }
    }
    gemm::HWY_NAMESPACE::applyEpilogue<kVectors>(*product.epilogue, totals[r]);
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      hn::BlendedStore(totals[r][j], masks[j], d, product.out + first + j * lanes);
    }
  }
}

template <int kBits, int kRows, int kVectors>
HWY_NOINLINE void micro(const DirectProduct& product) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  constexpr int64_t kLine = weightsOfLine(kBits);
  const int64_t line_bytes = kVectors * lanes * (kBits == 4 ? 4 : 1);
  const int64_t vector_bytes = kVectors * lanes * static_cast<int64_t>(sizeof(float));
  const int64_t group_size = product.weights->groupSize();
  const int64_t groups = product.weights->groups();
  const bool has_offset = product.weights->hasOffset();
  const Halves halves;
  const float* a[kRows];
  V totals[kRows][kVectors];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    a[r] = product.a + r * product.a_stride;
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      totals[r][j] = hn::Zero(d);
    }
  }
  const std::byte* b = product.panel->data;
  for (int64_t group = 0; group < groups; ++group) {
    const auto* scale = reinterpret_cast<const float*>(b);
    b += vector_bytes;
    if (has_offset) {
      const auto* offset = reinterpret_cast<const float*>(b);
      b += vector_bytes;
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const V sum = hn::Set(d, product.group_sums[r * groups + group]);
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j) {
          totals[r][j] = hn::MulAdd(sum, hn::LoadU(d, offset + j * lanes), totals[r][j]);
        }
      }
    }
    const int64_t group_end = (group + 1) * group_size;
    for (int64_t k = group * group_size; k < group_end;) {
      V sums[kRows][kVectors];
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j) {
          sums[r][j] = hn::Zero(d);
        }
      }
      const int64_t end = std::min(k + kMostSummed, group_end);
      for (; k < end; k += kLine, b += line_bytes) {
        if constexpr (kBits == 4) {
          addHalves<kRows, kVectors>(halves, b, a, k, sums, std::make_integer_sequence<int, 8>());
        } else {
          addBytes<kRows, kVectors>(b, a, k, sums);
        }
      }
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j) {
          totals[r][j] = hn::MulAdd(sums[r][j], hn::LoadU(d, scale + j * lanes), totals[r][j]);
        }
      }
    }
  }
  finish<kRows, kVectors>(product, totals);
}

using Micro = void (*)(const DirectProduct& product);

template <int kBits, int kRows>
Micro microOf(int32_t vectors) {
  static constexpr Micro kTable[] = {micro<kBits, kRows, 1>, micro<kBits, kRows, 2>, micro<kBits, kRows, 3>,
                                     micro<kBits, kRows, kMostVectors>};
  return kTable[vectors - 1];
}

template <int kBits>
Micro microOf(int64_t rows, int32_t vectors) {
  switch (rows) {
    case 1:
      return microOf<kBits, 1>(vectors);
    case 2:
      return microOf<kBits, 2>(vectors);
    case 3:
      return microOf<kBits, 3>(vectors);
    default:
      return microOf<kBits, kDirectRows>(vectors);
  }
}

void multiply(const DirectProduct& product) {
  const Micro micro = product.weights->bits() == 4 ? microOf<4>(product.rows, product.panel->vectors)
                                                   : microOf<8>(product.rows, product.panel->vectors);
  micro(product);
}

template <int... kHalf>
HWY_INLINE void widenHalves(const Halves& halves, const std::byte* from, V scale, V offset, float* to, int64_t stride,
                            std::integer_sequence<int, kHalf...>) {
  const auto line = hn::LoadU(DU(), reinterpret_cast<const uint32_t*>(from));
  (hn::StoreU(hn::MulAdd(halves.template value<kHalf>(line), scale, offset), D(), to + kHalf * stride), ...);
}

template <int kBits>
void widenAs(const WidenedWeights& widened) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const WeightPanels& weights = *widened.weights;
  constexpr int64_t kLine = weightsOfLine(kBits);
  constexpr int64_t kColumnBytes = kBits == 4 ? 4 : 1;  // of a line
  const int64_t width = widened.panel->vectors * lanes;
  const int64_t group_size = weights.groupSize();
  const int64_t head_bytes = (weights.hasOffset() ? 2 : 1) * width * static_cast<int64_t>(sizeof(float));
  const int64_t group_bytes = head_bytes + group_size / kLine * width * kColumnBytes;
  const int64_t stride = widened.vectors * lanes;
  const Halves halves;
  for (int64_t k = widened.begin; k < widened.end;) {
    const int64_t group = k / group_size;
    const int64_t end = std::min((group + 1) * group_size, widened.end);
    const std::byte* head = widened.panel->data + group * group_bytes;
    for (int64_t j = 0; j < widened.vectors; ++j) {
      const int64_t column = (widened.first_vector + j) * lanes;
      const auto* scales = reinterpret_cast<const float*>(head) + column;
      const V scale = hn::LoadU(d, scales);
      const V offset = weights.hasOffset() ? hn::LoadU(d, scales + width) : hn::Zero(d);
      const std::byte* from =
          head + head_bytes + (k - group * group_size) / kLine * width * kColumnBytes + column * kColumnBytes;
      float* to = widened.to + (k - widened.begin) * stride + j * lanes;
      for (int64_t line = k; line < end; line += kLine, from += width * kColumnBytes, to += kLine * stride) {
        if constexpr (kBits == 4) {
          widenHalves(halves, from, scale, offset, to, stride, std::make_integer_sequence<int, 8>());
        } else {
          hn::StoreU(hn::MulAdd(loadBytes(from), scale, offset), d, to);
        }
      }
    }
    k = end;
  }
}

void widen(const WidenedWeights& widened) {
  if (widened.weights->bits() == 4) {
    widenAs<4>(widened);
  } else {
    widenAs<8>(widened);
  }
}

void sumGroups(const float* row, int64_t group_size, int64_t groups, float* sums) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t group = 0; group < groups; ++group, row += group_size) {
    V sum = hn::Zero(d);
    int64_t k = 0;
    for (; k + lanes <= group_size; k += lanes) {
      sum = hn::Add(sum, hn::LoadU(d, row + k));
    }
    sum = hn::Add(sum, hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(group_size - k)), d, row + k));
    sums[group] = hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

WeightProduct productForTarget() {
  return {static_cast<int64_t>(hn::Lanes(D())), kMostVectors, multiply, widen, sumGroups};
}

}  // namespace
}  // namespace torchtrt::kernels::quantized::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::quantized {

HWY_EXPORT(productForTarget);

WeightProduct weightProduct() {
  return HWY_DYNAMIC_DISPATCH(productForTarget)();
}

}  // namespace torchtrt::kernels::quantized
#endif  // HWY_ONCE
