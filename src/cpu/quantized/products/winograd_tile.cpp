#include "cpu/quantized/products/winograd_tile.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/quantized/products/winograd_tile.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::quantized::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// F(2x2, 3x3), the points 0, 1, -1 and infinity. The kernel's transform is taken twice in each direction.
struct Small {
  static constexpr int kTile = 2;
  static constexpr int kSide = 4;

  // Transforms in place, over values `stride` apart.
  template <typename V>
  static HWY_INLINE void input(V* x, int stride) {
    const V x0 = x[0];
    const V x1 = x[stride];
    const V x2 = x[2 * stride];
    const V x3 = x[3 * stride];
    x[0] = hn::Sub(x0, x2);
    x[stride] = hn::Add(x1, x2);
    x[2 * stride] = hn::Sub(x2, x1);
    x[3 * stride] = hn::Sub(x1, x3);
  }
  template <typename V>
  static HWY_INLINE void output(V* m, int stride) {
    const V m1 = m[stride];
    const V m2 = m[2 * stride];
    m[0] = hn::Add(m[0], hn::Add(m1, m2));
    m[stride] = hn::Sub(hn::Sub(m1, m2), m[3 * stride]);
  }
  template <typename V>
  static HWY_INLINE V divide(V sum) {
    return hn::ShiftRight<2>(sum);
  }
};

// F(4x4, 3x3), the points 0, 1, -1, 2, -2 and infinity. Rows of the kernel's transform are 1/4, 1/6, 1/6, 1/24, 1/24
// and 1 times integers, 24 times of which the output's transform makes up for.
struct Large {
  static constexpr int kTile = 4;
  static constexpr int kSide = 6;

  template <typename V>
  static HWY_INLINE void input(V* x, int stride) {
    const V x1 = x[stride];
    const V x2 = x[2 * stride];
    const V x3 = x[3 * stride];
    const V x4 = x[4 * stride];
    const V even = hn::Sub(x4, x2);
    const V odd = hn::Sub(x3, x1);
    const V even_by_four = hn::Sub(x4, hn::ShiftLeft<2>(x2));
    const V odd_by_four = hn::Sub(x3, hn::ShiftLeft<2>(x1));
    const V odd_twice = hn::Add(odd, odd);
    x[0] = hn::Add(hn::ShiftLeft<2>(hn::Sub(x[0], x2)), even);
    x[stride] = hn::Add(even_by_four, odd_by_four);
    x[2 * stride] = hn::Sub(even_by_four, odd_by_four);
    x[3 * stride] = hn::Add(even, odd_twice);
    x[4 * stride] = hn::Sub(even, odd_twice);
    x[5 * stride] = hn::Sub(hn::Sub(x[5 * stride], x3), hn::ShiftLeft<2>(odd));
  }
  template <typename V>
  static HWY_INLINE void output(V* m, int stride) {
    const V ones = hn::ShiftLeft<2>(hn::Add(m[stride], m[2 * stride]));
    const V signs = hn::ShiftLeft<2>(hn::Sub(m[stride], m[2 * stride]));
    const V twos = hn::Add(m[3 * stride], m[4 * stride]);
    const V two_signs = hn::Sub(m[3 * stride], m[4 * stride]);
    const V twice = hn::Add(two_signs, two_signs);
    const V first = hn::Add(m[0], m[0]);
    const V last = hn::Add(m[5 * stride], hn::Add(m[5 * stride], m[5 * stride]));
    m[0] = hn::Add(hn::Add(first, hn::ShiftLeft<1>(first)), hn::Add(ones, twos));
    m[stride] = hn::Add(signs, twice);
    m[2 * stride] = hn::Add(ones, hn::ShiftLeft<2>(twos));
    m[3 * stride] = hn::Add(signs, hn::Add(hn::ShiftLeft<2>(twice), hn::ShiftLeft<3>(last)));
  }
  // Divides by 576: by 9, which has an inverse among the integers that wrap at 2^32, and by 64.
  template <typename V>
  static HWY_INLINE V divide(V sum) {
    constexpr int32_t kInverseOf9 = 954437177;
    return hn::ShiftRight<6>(hn::Mul(sum, hn::Set(hn::DFromV<V>(), kInverseOf9)));
  }
};

template <typename Form, typename T>
void transformInput(const SquareInput& tile) {
  constexpr int kSide = Form::kSide;
  const hn::ScalableTag<int16_t> d;
  const hn::Rebind<T, decltype(d)> narrow;
  using V = hn::Vec<decltype(d)>;
  const V zero_point = hn::Set(d, static_cast<int16_t>(tile.zero_point));
  for (int64_t c = 0; c < tile.channels; c += static_cast<int64_t>(hn::Lanes(d))) {
    V x[kSide * kSide];
#pragma GCC unroll 36
    for (int i = 0; i < kSide * kSide; ++i) {
      const auto* pixel = static_cast<const T*>(tile.pixels[static_cast<size_t>(i)]);
      x[i] = pixel == nullptr ? hn::Zero(d) : hn::Sub(hn::PromoteTo(d, hn::LoadU(narrow, pixel + c)), zero_point);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kSide; ++i) {
      Form::input(x + i, kSide);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kSide; ++i) {
      Form::input(x + i * kSide, 1);
#pragma GCC unroll 8
      for (int j = 0; j < kSide; ++j) {
        hn::StoreU(x[i * kSide + j], d, tile.to + (i * kSide + j) * tile.step + c);
      }
    }
  }
}

template <typename Form>
void transformOutput(const SquareOutput& tile) {
  constexpr int kSide = Form::kSide;
  constexpr int kTile = Form::kTile;
  const hn::ScalableTag<int32_t> d;
  using V = hn::Vec<decltype(d)>;
  for (int64_t c = 0; c < tile.columns; c += static_cast<int64_t>(hn::Lanes(d))) {
    V half[kTile * kSide];  // transformed along columns
#pragma GCC unroll 8
    for (int j = 0; j < kSide; ++j) {
      V m[kSide];
#pragma GCC unroll 8
      for (int i = 0; i < kSide; ++i) {
        m[i] = hn::LoadU(d, tile.from + (i * kSide + j) * tile.step + c);
      }
      Form::output(m, 1);
#pragma GCC unroll 8
      for (int i = 0; i < kTile; ++i) {
        half[i * kSide + j] = m[i];
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kTile; ++i) {
      Form::output(half + i * kSide, 1);
#pragma GCC unroll 8
      for (int j = 0; j < kTile; ++j) {
        if (int32_t* to = tile.to[static_cast<size_t>(i * kTile + j)]) {
          hn::StoreU(Form::divide(half[i * kSide + j]), d, to + c);
        }
      }
    }
  }
}

template <typename Form>
SquareFunctions functionsOf(DType input) {
  return {input == DType::kInt8 ? transformInput<Form, int8_t> : transformInput<Form, uint8_t>, transformOutput<Form>};
}

SquareFunctions functionsForTarget(SquareForm form, DType input) {
  return form == SquareForm::kSmall ? functionsOf<Small>(input) : functionsOf<Large>(input);
}

}  // namespace
}  // namespace torchtrt::kernels::quantized::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::quantized {

HWY_EXPORT(functionsForTarget);

SquareFunctions squareFunctions(SquareForm form, DType input) {
  return HWY_DYNAMIC_DISPATCH(functionsForTarget)(form, input);
}

SquareSizes sizesOf(SquareForm form) {
  return form == SquareForm::kSmall ? SquareSizes{2, 4, 4} : SquareSizes{4, 6, 576};
}

void transformKernel(SquareForm form, const int8_t* taps, int16_t* products, int64_t step) {
  using Row = std::array<int, 3>;
  static constexpr std::array<Row, 4> kSmall = {{{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}}};
  static constexpr std::array<Row, 6> kLarge = {
      {{1, 0, 0}, {-1, -1, -1}, {-1, 1, -1}, {1, 2, 4}, {1, -2, 4}, {0, 0, 1}}};
  const Row* rows = form == SquareForm::kSmall ? kSmall.data() : kLarge.data();
  const auto side = static_cast<int>(sizesOf(form).side);
  for (int i = 0; i < side; ++i) {
    for (int j = 0; j < side; ++j) {
      int sum = 0;
      for (size_t t = 0; t < 9; ++t) {
        sum += rows[i][t / 3] * rows[j][t % 3] * taps[t];
      }
      products[(i * side + j) * step] = static_cast<int16_t>(sum);
    }
  }
}

}  // namespace torchtrt::kernels::quantized
#endif  // HWY_ONCE
