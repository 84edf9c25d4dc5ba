#include "kernels/common/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convolution/winograd_tile.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>

#include "kernels/convolution/winograd_tile.h"
#include "kernels/gemm/epilogue-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::convolution::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// The transforms of one row or column: B^T d of an input, A^T m of products. winograd_form.cpp has those of kernels.
struct Small {
  static constexpr int kTile = 2;
  static constexpr int kSide = 4;
  static constexpr bool watches(int y, int x) {
    return y == 1 || y == 2 || x == 1 || x == 2;
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
  static constexpr bool watches(int y, int x) {
    return y == 1 || x == 1;
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
  // Such pixels lie in the middle of the patch in at least one direction.
  static constexpr bool watches(int y, int x) {
    const bool middle_y = y == 1 || y == 3;
    const bool middle_x = x == 1 || x == 3;
    const bool edge_y = y == 0 || y == 5;
    const bool edge_x = x == 0 || x == 5;
    return (middle_y && (middle_x || edge_x)) || (middle_x && edge_y);
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

// An output also holds terms of pixels that it does not depend on, or only by taps that are zero: they cancel but for
// their rounding. That shows where these are far larger: beside a sentinel, or beside nothing at all. Some of the
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

// Dots of one line of weights with the windows of up to kMostWindows pixels at a time.
void sumPlainly(const WinogradPlain& plain) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t n = 0; n < plain.columns; ++n) {
    const float* weights = plain.weights + n * plain.length;
    V sums[kMostWindows];
#pragma GCC unroll 4
    for (int i = 0; i < kMostWindows; ++i) {
      sums[i] = hn::Zero(d);
    }
    for (int64_t k = 0; k < plain.length; k += lanes) {
      const V weight = hn::LoadU(d, weights + k);
#pragma GCC unroll 4
      for (int i = 0; i < kMostWindows; ++i) {
        sums[i] = hn::MulAdd(weight, hn::LoadU(d, plain.windows[static_cast<size_t>(i)] + k), sums[i]);
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < kMostWindows; ++i) {
      const float bias = plain.bias == nullptr ? 0.0F : plain.bias[n];
      const float* residual = plain.residual[static_cast<size_t>(i)];
      if (float* out = plain.out[static_cast<size_t>(i)]) {
        out[n] = hn::GetLane(hn::SumOfLanes(d, sums[i])) + bias + (residual == nullptr ? 0.0F : residual[n]);
      }
    }
  }
}

// The epilogue over values in memory.
void finish(const gemm::Epilogue& epilogue, float* values, int64_t count) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < count; i += lanes) {
    V value[1] = {hn::LoadU(d, values + i)};
    gemm::HWY_NAMESPACE::applyEpilogue<1>(epilogue, value);
    hn::StoreU(value[0], d, values + i);
  }
}

template <typename Form>
WinogradFunctions functionsOf() {
  return {static_cast<int64_t>(hn::Lanes(D())), transformInput<Form>, transformOutput<Form>, sumPlainly, finish};
}

WinogradFunctions functionsForTarget(WinogradForm form) {
  switch (form) {
    case WinogradForm::kSmall:
      return functionsOf<Small>();
    case WinogradForm::kLarge:
      return functionsOf<Large>();
    case WinogradForm::kStrided:
      break;
  }
  return functionsOf<Strided>();
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
