#include "cpu/quantized/products/integer_gemm.h"

#include "base/align.h"
#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/quantized/products/integer_gemm.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::quantized::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<int32_t>;
using V = hn::Vec<D>;

// Sums, a row of B, a pair of A and a product have to fit the vector registers: 32 with AVX-512, 16 before.
constexpr int kMaxRows = HWY_TARGET == HWY_AVX3 ? 12 : 6;
constexpr int kMaxVectors = 2;

#if HWY_TARGET == HWY_SCALAR

struct Pair {
  int32_t low;
  int32_t high;
};
HWY_INLINE Pair loadPair(const int16_t* a) {
  return {a[0], a[1]};
}
using Line = Pair;
HWY_INLINE Line loadLine(const int16_t* b) {
  return {b[0], b[1]};
}
HWY_INLINE V addProducts(const Pair& pair, const Line& line, V sum) {
  return hn::Add(sum, hn::Set(D(), pair.low * line.low + pair.high * line.high));
}

#else

using D16 = hn::Repartition<int16_t, D>;
using Pair = hn::Vec<D16>;
HWY_INLINE Pair loadPair(const int16_t* a) {
  int32_t both;
  std::memcpy(&both, a, sizeof(both));
  return hn::BitCast(D16(), hn::Set(D(), both));
}
using Line = hn::Vec<D16>;
HWY_INLINE Line loadLine(const int16_t* b) {
  return hn::Load(D16(), b);
}
HWY_INLINE V addProducts(Pair pair, Line line, V sum) {
  V unused = hn::Zero(D());
  return hn::ReorderWidenMulAccumulate(D(), pair, line, sum, unused);
}

#endif

template <int kRows, int kVectors>
HWY_NOINLINE void micro(const PanelProduct& product, int64_t row, bool fetch) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V sums[kRows][kVectors];
  int32_t* out = product.sums + row * product.width;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      sums[r][j] = product.add ? hn::LoadU(d, out + (r * kVectors + j) * lanes) : hn::Zero(d);
    }
  }
  const int16_t* a = product.a + row * product.a_stride;
  const int16_t* b = product.b;
  const int64_t a_stride = product.a_stride;
  const int16_t* ahead = fetch ? product.ahead : b;
  const int16_t* const end = a + 2 * product.pairs;
  for (; a != end; a += 2) {
    __builtin_prefetch(ahead, 0, 3);
    ahead += 2 * kVectors * lanes;
    Line lines[kVectors];
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      lines[j] = loadLine(b + 2 * j * lanes);
    }
    b += 2 * kVectors * lanes;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const Pair pair = loadPair(a + r * a_stride);
#pragma GCC unroll 2
      for (int j = 0; j < kVectors; ++j) {
        sums[r][j] = addProducts(pair, lines[j], sums[r][j]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      hn::StoreU(sums[r][j], d, out + (r * kVectors + j) * lanes);
    }
  }
}

using Micro = void (*)(const PanelProduct& product, int64_t row, bool fetch);

// micro<1..kMaxRows, kVectors>
template <int kVectors, int... kRows>
constexpr void fill(Micro* table, std::integer_sequence<int, kRows...>) {
  ((table[kRows] = micro<kRows + 1, kVectors>), ...);
}

void multiply(const PanelProduct& product) {
  static constexpr auto kTable = [] {
    struct {
      Micro one[kMaxRows];
      Micro two[kMaxRows];
    } table{};
    fill<1>(table.one, std::make_integer_sequence<int, kMaxRows>());
    fill<kMaxVectors>(table.two, std::make_integer_sequence<int, kMaxRows>());
    return table;
  }();
  const Micro* micros = product.width == static_cast<int64_t>(hn::Lanes(D())) ? kTable.one : kTable.two;
  const int64_t tiles = (product.rows + kMaxRows - 1) / kMaxRows;  // of even shares: 7 rows are 4 + 3, not 6 + 1
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const int64_t row = product.rows * tile / tiles;
    micros[product.rows * (tile + 1) / tiles - row - 1](product, row, tile + 1 == tiles);
  }
}

IntegerGemm gemmForTarget() {
  return {static_cast<int64_t>(hn::Lanes(D())), multiply};
}

}  // namespace
}  // namespace torchtrt::kernels::quantized::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

#include "cpu/threads/parallel.h"
#include "device/constants.h"

namespace torchtrt::kernels::quantized {

HWY_EXPORT(gemmForTarget);

IntegerGemm integerGemm() {
  return HWY_DYNAMIC_DISPATCH(gemmForTarget)();
}

template <typename T>
PackedIntegers::PackedIntegers(int64_t depth, int64_t columns, int64_t column_stride,
                               const std::function<const T*(int64_t)>& row, int threads)
    : depth_(depth), columns_(columns) {
  constexpr int64_t kMaxVectors = 2;
  const int64_t lanes = integerGemm().lanes;
  const int64_t pairs = (depth + 1) / 2;
  const int64_t padded = roundUp(columns, lanes);
  bytes_ = static_cast<size_t>(padded * pairs * 2) * sizeof(int16_t);
  data_ = std::static_pointer_cast<int16_t>(device::allocateConstant(bytes_, "packing weights"));
  for (int64_t column = 0; column < padded; column += kMaxVectors * lanes) {
    const int64_t width = std::min(kMaxVectors * lanes, padded - column);
    panels_.push_back({data_.get() + column * pairs * 2, static_cast<int32_t>(width), static_cast<int32_t>(column),
                       static_cast<int32_t>(std::min(width, columns - column))});
  }
  constexpr int64_t kGrain = 65536;  // weights worth a thread
  const int64_t grain = std::max<int64_t>(1, kGrain / (pairs * 2 * kMaxVectors * lanes + 1));
  parallelFor(threads, 0, static_cast<int64_t>(panels_.size()), grain, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const Panel& panel = panels_[static_cast<size_t>(p)];
      int16_t* to = data_.get() + panel.column * pairs * 2;
      std::fill_n(to, panel.width * pairs * 2, int16_t{0});
      for (int64_t k = 0; k < depth; ++k) {
        const T* from = row(k) + panel.column * column_stride;
        int16_t* line = to + k / 2 * panel.width * 2 + k % 2;
        for (int64_t n = 0; n < panel.valid; ++n) {
          line[2 * n] = from[n * column_stride];
        }
      }
    }
  });
}

template PackedIntegers::PackedIntegers(int64_t, int64_t, int64_t, const std::function<const int8_t*(int64_t)>&, int);
template PackedIntegers::PackedIntegers(int64_t, int64_t, int64_t, const std::function<const int16_t*(int64_t)>&, int);

}  // namespace torchtrt::kernels::quantized
#endif  // HWY_ONCE
