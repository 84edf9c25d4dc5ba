#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/convolution/winograd/winograd_tile.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>

#include "cpu/convolution/winograd/winograd_tile.h"
#include "cpu/gemm/epilogue-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::convolution::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// The transforms of one row or column: G w of a kernel, B^T d of an input, A^T m of products.
struct Small {
  static constexpr int kTile = 2;
  static constexpr int kSide = 4;
  static constexpr int kLines = 4;
  static constexpr bool watches(int y, int x) {
    return y == 1 || y == 2 || x == 1 || x == 2;
  }

  static HWY_INLINE void kernel(const V* w, V* to) {
    const V half = hn::Set(D(), 0.5F);
    const V even = hn::Mul(half, hn::Add(w[0], w[2]));
    to[0] = w[0];
    to[1] = hn::MulAdd(half, w[1], even);
    to[2] = hn::NegMulAdd(half, w[1], even);
    to[3] = w[2];
  }
  static HWY_INLINE void input(const V* d, V* to) {
    to[0] = hn::Sub(d[0], d[2]);
    to[1] = hn::Add(d[1], d[2]);
    to[2] = hn::Sub(d[2], d[1]);
    to[3] = hn::Sub(d[1], d[3]);
  }
  static HWY_INLINE void output(const V* m, V* to) {
    to[0] = hn::Add(m[0], hn::Add(m[1], m[2]));
    to[1] = hn::Sub(hn::Sub(m[1], m[2]), m[3]);
  }
};

// The first three values are of the outer taps, the others of the middle one.
struct Strided {
  static constexpr int kTile = 2;
  static constexpr int kSide = 5;
  static constexpr int kLines = 4;
  static constexpr bool watches(int y, int x) {
    return y == 1 || x == 1;
  }

  // Outputs read every other pixel by the outer two taps, which is F(2, 2), and those between by the middle.
  static HWY_INLINE void kernel(const V* w, V* to) {
    to[0] = w[0];
    to[1] = hn::Add(w[0], w[2]);
    to[2] = w[2];
    to[3] = w[1];
  }
  static HWY_INLINE void input(const V* d, V* to) {
    to[0] = hn::Sub(d[0], d[2]);
    to[1] = d[2];
    to[2] = hn::Sub(d[4], d[2]);
    to[3] = d[1];
    to[4] = d[3];
  }
  static HWY_INLINE void output(const V* m, V* to) {
    to[0] = hn::Add(hn::Add(m[0], m[1]), m[3]);
    to[1] = hn::Add(hn::Add(m[1], m[2]), m[4]);
  }
};

struct Large {
  static constexpr int kTile = 4;
  static constexpr int kSide = 6;
  static constexpr int kLines = 6;
  // Such pixels lie in the middle of the patch in at least one direction.
  static constexpr bool watches(int y, int x) {
    const bool middle_y = y == 1 || y == 3;
    const bool middle_x = x == 1 || x == 3;
    const bool edge_y = y == 0 || y == 5;
    const bool edge_x = x == 0 || x == 5;
    return (middle_y && (middle_x || edge_x)) || (middle_x && edge_y);
  }

  static HWY_INLINE void kernel(const V* w, V* to) {
    const D tag;
    const V third = hn::Set(tag, 1.0F / 3);
    const V sixth = hn::Set(tag, 1.0F / 6);
    const V near_odd = hn::Set(tag, kRoot / 3);
    const V far_odd = hn::Set(tag, kRoot / 6);
    const V near_even = hn::Mul(third, hn::NegMulSub(hn::Set(tag, 2.0F), w[0], w[2]));
    const V far_even = hn::Mul(sixth, hn::MulAdd(hn::Set(tag, 2.0F), w[2], w[0]));
    to[0] = w[0];
    to[1] = hn::NegMulAdd(near_odd, w[1], near_even);
    to[2] = hn::MulAdd(near_odd, w[1], near_even);
    to[3] = hn::MulAdd(far_odd, w[1], far_even);
    to[4] = hn::NegMulAdd(far_odd, w[1], far_even);
    to[5] = w[2];
  }
  static HWY_INLINE void input(const V* d, V* to) {
    const D tag;
    const V half = hn::Set(tag, 0.5F);
    const V two = hn::Set(tag, 2.0F);
    const V five_halves = hn::Set(tag, 2.5F);
    const V root = hn::Set(tag, kRoot);
    const V half_root = hn::Set(tag, kRoot / 2);
    const V even_near = hn::NegMulAdd(two, d[2], d[4]);
    const V odd_near = hn::NegMulAdd(two, d[1], d[3]);
    const V even_far = hn::NegMulAdd(half, d[2], d[4]);
    const V odd_far = hn::NegMulAdd(half, d[1], d[3]);
    to[0] = hn::NegMulAdd(five_halves, d[2], hn::Add(d[0], d[4]));
    to[1] = hn::MulAdd(half_root, odd_near, even_near);
    to[2] = hn::NegMulAdd(half_root, odd_near, even_near);
    to[3] = hn::MulAdd(root, odd_far, even_far);
    to[4] = hn::NegMulAdd(root, odd_far, even_far);
    to[5] = hn::NegMulAdd(five_halves, d[3], hn::Add(d[1], d[5]));
  }
  static HWY_INLINE void output(const V* m, V* to) {
    const D tag;
    const V near_sum = hn::Add(m[1], m[2]);
    const V near_difference = hn::Mul(hn::Set(tag, kRoot / 2), hn::Sub(m[1], m[2]));
    const V far_sum = hn::Add(m[3], m[4]);
    const V far_difference = hn::Mul(hn::Set(tag, kRoot), hn::Sub(m[3], m[4]));
    const V half = hn::Set(tag, 0.5F);
    const V two = hn::Set(tag, 2.0F);
    to[0] = hn::Add(m[0], hn::Add(near_sum, far_sum));
    to[1] = hn::Add(near_difference, far_difference);
    to[2] = hn::MulAdd(two, far_sum, hn::Mul(half, near_sum));
    to[3] = hn::MulAdd(two, far_difference, hn::MulAdd(half, near_difference, m[5]));
  }

 private:
  static constexpr float kRoot = 1.41421356237309505F;
};

// Transforms each column of a patch, whose pixel is load(y, x), to `kTo` values: to[kSide * y + x].
template <typename Form, int kTo, typename Load, typename Transform>
HWY_INLINE void transformColumns(const Load& load, const Transform& transform, V* to) {
  constexpr int kSide = Form::kSide;
  V values[kSide];
  V line[kTo];
#pragma GCC unroll 8
  for (int x = 0; x < kSide; ++x) {
#pragma GCC unroll 8
    for (int y = 0; y < kSide; ++y) {
      values[y] = load(y, x);
    }
    transform(values, line);
#pragma GCC unroll 8
    for (int y = 0; y < kTo; ++y) {
      to[kSide * y + x] = line[y];
    }
  }
}

// B^T d B of a patch d.
template <typename Form>
void transformInput(const WinogradInput& tile) {
  constexpr int kSide = Form::kSide;
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < tile.channels; c += lanes) {
    V rows[kSide * kSide];
    V line[kSide];
    transformColumns<Form, kSide>(
        [&](int y, int x) HWY_ATTR { return hn::LoadU(d, tile.pixels[static_cast<size_t>(kSide * y + x)] + c); },
        Form::input, rows);
    float* to = tile.to + c;
#pragma GCC unroll 8
    for (int y = 0; y < kSide; ++y) {
      Form::input(rows + kSide * y, line);
#pragma GCC unroll 8
      for (int x = 0; x < kSide; ++x) {
        hn::StoreU(line[x], d, to + (kSide * y + x) * tile.step);
      }
    }
  }
}

// An output also holds terms of pixels that it does not depend on, or only by taps that are zero: they cancel except
// for their rounding. That shows where these are far larger: beside a sentinel, or beside nothing at all. Some of the
// products that a form watches hold each such pixel.

// Rounding is about 1e-6 of the largest product: products may be this many times the largest channel of a pixel.
constexpr float kMostCancelled = 24.0F;

template <int kTile>
HWY_INLINE bool cancels(V products, const V (&pixels)[kTile * kTile]) {
  const D d;
  const float largest = hn::GetLane(hn::MaxOfLanes(d, products));
  V smallest = pixels[0];
#pragma GCC unroll 16
  for (int i = 1; i < kTile * kTile; ++i) {
    smallest = hn::Min(smallest, pixels[i]);
  }
  if (largest <= kMostCancelled * hn::GetLane(hn::MaxOfLanes(d, smallest))) {
    return false;  // by far the commonest
  }
  for (const V pixel : pixels) {
    if (largest > kMostCancelled * hn::GetLane(hn::MaxOfLanes(d, pixel))) {
      return true;
    }
  }
  return false;
}

// A^T m A of products m, then bias, residual and epilogue.
template <typename Form>
bool transformOutput(const WinogradOutput& tile) {
  constexpr int kTile = Form::kTile;
  constexpr int kSide = Form::kSide;
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V nothing = hn::Zero(d);  // stays 0 while everything is finite
  V products = hn::Zero(d);
  V pixels[kTile * kTile];  // the largest channels of each
  for (int i = 0; i < kTile * kTile; ++i) {
    const bool exists = tile.out[static_cast<size_t>(i)] != nullptr;
    pixels[i] = hn::Set(d, exists ? 0.0F : std::numeric_limits<float>::infinity());
  }
  for (int64_t n = 0; n < tile.columns; n += lanes) {
    V columns[kTile * kSide];
    V line[kTile];
    transformColumns<Form, kTile>(
        [&](int y, int x) HWY_ATTR {
          const V product = hn::LoadU(d, tile.from + (kSide * y + x) * tile.step + n);
          if (Form::watches(y, x)) {
            products = hn::Max(products, hn::Abs(product));
          }
          return product;
        },
        Form::output, columns);
    const V bias = tile.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, tile.bias + n);
#pragma GCC unroll 8
    for (int y = 0; y < kTile; ++y) {
      Form::output(columns + kSide * y, line);
#pragma GCC unroll 8
      for (int x = 0; x < kTile; ++x) {
        const float* residual = tile.residual[static_cast<size_t>(kTile * y + x)];
        nothing = hn::MulAdd(line[x], hn::Zero(d), nothing);
        line[x] = hn::Add(line[x], bias);
        V& pixel = pixels[kTile * y + x];
        pixel = hn::Max(pixel, hn::Abs(line[x]));
        if (residual != nullptr) {
          line[x] = hn::Add(line[x], hn::LoadU(d, residual + n));
        }
      }
      gemm::HWY_NAMESPACE::applyEpilogue<kTile>(*tile.epilogue, line);
#pragma GCC unroll 8
      for (int x = 0; x < kTile; ++x) {
        float* out = tile.out[static_cast<size_t>(kTile * y + x)];
        if (out != nullptr) {
          hn::StoreU(line[x], d, out + n);
        }
      }
    }
  }
  if (!hn::AllTrue(d, hn::Eq(nothing, hn::Zero(d)))) {
    return false;
  }
  return !cancels<kTile>(products, pixels);
}

// Lines kFirst and kSecond of G w G^T, for kernels w of one channel and a vector of outputs at a time.
template <typename Form, int kFirst, int kSecond, int kVectors>
void transformPanel(const WinogradKernelLines& lines) {
  constexpr int kLines = Form::kLines;
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t width = kVectors * lanes;
  const int64_t step = lines.step;  // a store could change what `lines` holds, for all the compiler knows
  const float* from = lines.from;
  float* first = lines.to;
  for (int64_t c = lines.channels; c > 0; --c) {
#pragma GCC unroll 3
    for (int64_t v = 0; v < kVectors; ++v) {
      V rows[2][3];
#pragma GCC unroll 3
      for (int x = 0; x < 3; ++x) {
        V column[3];
        V all[kLines];  // of which the compiler makes the two that are used
#pragma GCC unroll 3
        for (int y = 0; y < 3; ++y) {
          column[y] = hn::Load(d, from + (3 * y + x) * width + v * lanes);
        }
        Form::kernel(column, all);
        rows[0][x] = all[kFirst];
        rows[1][x] = all[kSecond];
      }
      float* to = first + v * lanes;
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
        V results[kLines];
        Form::kernel(rows[i], results);
#pragma GCC unroll 8
        for (int x = 0; x < kLines; ++x) {
          hn::Store(results[x], d, to);
          to += step;
        }
      }
    }
    from += kWinogradTaps * width;
    first += width;
  }
}

template <typename Form, int kFirst, int kSecond>
void transformKernels(const WinogradKernelLines& lines) {
  switch (lines.vectors) {
    case 1:
      return transformPanel<Form, kFirst, kSecond, 1>(lines);
    case 2:
      return transformPanel<Form, kFirst, kSecond, 2>(lines);
    default:
      return transformPanel<Form, kFirst, kSecond, 3>(lines);
  }
}

template <typename Form, int kFirst, int kSecond>
WinogradLinePair pairOf() {
  return {kFirst, kSecond, transformKernels<Form, kFirst, kSecond>};
}

template <typename Form, typename... Pairs>
WinogradFunctions functionsOf(Pairs... pairs) {
  return {static_cast<int64_t>(hn::Lanes(D())), transformInput<Form>, transformOutput<Form>, {pairs...}};
}

WinogradFunctions functionsForTarget(WinogradForm form) {
  switch (form) {
    case WinogradForm::kSmall:
      return functionsOf<Small>(pairOf<Small, 0, 3>(), pairOf<Small, 1, 2>());
    case WinogradForm::kLarge:
      return functionsOf<Large>(pairOf<Large, 0, 5>(), pairOf<Large, 1, 2>(), pairOf<Large, 3, 4>());
    case WinogradForm::kStrided:
      break;
  }
  return functionsOf<Strided>(pairOf<Strided, 0, 2>(), pairOf<Strided, 1, 3>());
}

}  // namespace
}  // namespace torchtrt::kernels::convolution::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::convolution {

HWY_EXPORT(functionsForTarget);

WinogradFunctions winogradFunctions(WinogradForm form) {
  return HWY_DYNAMIC_DISPATCH(functionsForTarget)(form);
}

}  // namespace torchtrt::kernels::convolution
#endif  // HWY_ONCE
