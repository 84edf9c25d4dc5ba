// The stages of a transform on vectors: number m of every lane lies at data + 2 * m * lanes, its imaginary part behind
// it. Included once per instruction set, like every *-inl.h of Highway.

#if defined(TORCHTRT_KERNELS_FOURIER_STAGES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCHTRT_KERNELS_FOURIER_STAGES_INL_H_
#undef TORCHTRT_KERNELS_FOURIER_STAGES_INL_H_
#else
#define TORCHTRT_KERNELS_FOURIER_STAGES_INL_H_
#endif

#include <hwy/highway.h>

#include <utility>

#include "cpu/fourier/plan.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::fourier::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
struct Complex {
  hn::Vec<D> re, im;
};

template <class D>
HWY_INLINE Complex<D> plus(const Complex<D>& a, const Complex<D>& b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
template <class D>
HWY_INLINE Complex<D> minus(const Complex<D>& a, const Complex<D>& b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
template <class D>
HWY_INLINE Complex<D> times(const Complex<D>& a, const Complex<D>& b) {
  return {hn::NegMulAdd(a.im, b.im, hn::Mul(a.re, b.re)), hn::MulAdd(a.re, b.im, hn::Mul(a.im, b.re))};
}
template <class D>
HWY_INLINE Complex<D> timesMinusI(const Complex<D>& a) {
  return {a.im, hn::Neg(a.re)};
}
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE Complex<D> read(D d, const T* from) {
  return {hn::Load(d, from), hn::Load(d, from + hn::Lanes(d))};
}
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE void write(D d, const Complex<D>& value, T* to) {
  hn::Store(value.re, d, to);
  hn::Store(value.im, d, to + hn::Lanes(d));
}
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE Complex<D> same(D d, const T* pair) {
  return {hn::Set(d, pair[0]), hn::Set(d, pair[1])};
}

// The transform of kRadix numbers in place.
template <int64_t kRadix, class D, typename T = hn::TFromD<D>>
HWY_INLINE void transformFew(D d, Complex<D>* a, const T* roots) {
  if constexpr (kRadix == 2) {
    const Complex<D> first = a[0];
    a[0] = plus(first, a[1]);
    a[1] = minus(first, a[1]);
  } else if constexpr (kRadix == 4) {
    const Complex<D> even = plus(a[0], a[2]), even_odd = minus(a[0], a[2]);
    const Complex<D> odd = plus(a[1], a[3]), odd_odd = timesMinusI(minus(a[1], a[3]));
    a[0] = plus(even, odd);
    a[1] = plus(even_odd, odd_odd);
    a[2] = minus(even, odd);
    a[3] = minus(even_odd, odd_odd);
  } else {
    // Sums and differences of what stands at places that add up to kRadix, which share their roots.
    constexpr int64_t kPairs = kRadix / 2;
    Complex<D> sums[kPairs], differences[kPairs];
#pragma GCC unroll 4
    for (int64_t j = 0; j < kPairs; ++j) {
      sums[j] = plus(a[j + 1], a[kRadix - 1 - j]);
      differences[j] = minus(a[j + 1], a[kRadix - 1 - j]);
    }
    const Complex<D> first = a[0];
#pragma GCC unroll 4
    for (int64_t j = 0; j < kPairs; ++j) {
      a[0] = plus(a[0], sums[j]);
    }
#pragma GCC unroll 4
    for (int64_t k = 1; k <= kPairs; ++k) {
      Complex<D> even = first;
      Complex<D> odd = {hn::Zero(d), hn::Zero(d)};
#pragma GCC unroll 4
      for (int64_t j = 0; j < kPairs; ++j) {
        const Complex<D> root = same(d, roots + 2 * ((j + 1) * k % kRadix));  // cos and -sin
        even = {hn::MulAdd(root.re, sums[j].re, even.re), hn::MulAdd(root.re, sums[j].im, even.im)};
        odd = {hn::NegMulAdd(root.im, differences[j].im, odd.re), hn::MulAdd(root.im, differences[j].re, odd.im)};
      }
      a[k] = plus(even, odd);
      a[kRadix - k] = minus(even, odd);
    }
  }
}

template <int64_t kRadix, bool kTurned, class D, typename T = hn::TFromD<D>>
HWY_INLINE void runGroup(D d, const Stage& stage, const T* factors, const T* roots, const T* from, T* to) {
  const auto apart = static_cast<int64_t>(2 * hn::Lanes(d));
  Complex<D> turns[kRadix];
#pragma GCC unroll 8
  for (int64_t k = 1; kTurned && k < kRadix; ++k) {
    turns[k] = same(d, factors + 2 * (k - 1));
  }
  const int64_t leg = stage.stride * stage.count * apart;
  for (int64_t q = 0; q < stage.stride; ++q) {
    Complex<D> a[kRadix];
#pragma GCC unroll 8
    for (int64_t j = 0; j < kRadix; ++j) {
      a[j] = read(d, from + q * apart + j * leg);
    }
    transformFew<kRadix>(d, a, roots);
    write(d, a[0], to + q * apart);
#pragma GCC unroll 8
    for (int64_t k = 1; k < kRadix; ++k) {
      if constexpr (kTurned) {
        a[k] = times(a[k], turns[k]);
      }
      write(d, a[k], to + (q + k * stage.stride) * apart);
    }
  }
}

template <int64_t kRadix, class D, typename T = hn::TFromD<D>>
void runStage(D d, const Plan<T>& plan, const Stage& stage, const T* from, T* to) {
  const auto apart = static_cast<int64_t>(2 * hn::Lanes(d));
  const T* const roots = plan.roots.data() + stage.roots;
  runGroup<kRadix, false>(d, stage, static_cast<const T*>(nullptr), roots, from, to);  // its factors are 1
  for (int64_t p = 1; p < stage.count; ++p) {
    runGroup<kRadix, true>(d, stage, plan.factors.data() + stage.factors + 2 * (kRadix - 1) * p, roots,
                           from + p * stage.stride * apart, to + kRadix * p * stage.stride * apart);
  }
}

// Any odd radix; operands are read again for every result.
template <class D, typename T = hn::TFromD<D>>
void runOddStage(D d, const Plan<T>& plan, const Stage& stage, const T* from, T* to) {
  const auto apart = static_cast<int64_t>(2 * hn::Lanes(d));
  const int64_t radix = stage.radix, leg = stage.stride * stage.count * apart;
  const T* const roots = plan.roots.data() + stage.roots;
  const T one[2] = {1, 0};
  for (int64_t p = 0; p < stage.count; ++p) {
    const T* const factors = plan.factors.data() + stage.factors + 2 * (radix - 1) * p;
    for (int64_t q = 0; q < stage.stride; ++q) {
      const T* const a = from + (p * stage.stride + q) * apart;
      T* const b = to + (radix * p * stage.stride + q) * apart;
      const Complex<D> first = read(d, a);
      Complex<D> sum = first;
      for (int64_t j = 1; j < radix; ++j) {
        sum = plus(sum, read(d, a + j * leg));
      }
      write(d, sum, b);
      for (int64_t k = 1; 2 * k < radix; ++k) {
        Complex<D> even = first;
        Complex<D> odd = {hn::Zero(d), hn::Zero(d)};
        for (int64_t j = 1; 2 * j < radix; ++j) {
          const Complex<D> root = same(d, roots + 2 * (j * k % radix));
          const Complex<D> low = read(d, a + j * leg), high = read(d, a + (radix - j) * leg);
          const Complex<D> both = plus(low, high), difference = minus(low, high);
          even = {hn::MulAdd(root.re, both.re, even.re), hn::MulAdd(root.re, both.im, even.im)};
          odd = {hn::NegMulAdd(root.im, difference.im, odd.re), hn::MulAdd(root.im, difference.re, odd.im)};
        }
        const Complex<D> low_turn = same(d, p == 0 ? one : factors + 2 * (k - 1));
        const Complex<D> high_turn = same(d, p == 0 ? one : factors + 2 * (radix - k - 1));
        write(d, times(plus(even, odd), low_turn), b + k * stage.stride * apart);
        write(d, times(minus(even, odd), high_turn), b + (radix - k) * stage.stride * apart);
      }
    }
  }
}

template <class D, typename T = hn::TFromD<D>>
void transform(D d, const Plan<T>& plan, T*& data, T*& work);

// Number m times the chirp's, a convolution with the chirp, and once more times it.
template <class D, typename T = hn::TFromD<D>>
void transformByChirp(D d, const Plan<T>& plan, T*& data, T*& work) {
  const auto apart = static_cast<int64_t>(2 * hn::Lanes(d));
  const int64_t padded = plan.chirp_transform->length;
  const auto turn = [&](const std::vector<T>& by, int64_t count) HWY_ATTR {
    for (int64_t m = 0; m < count; ++m) {
      write(d, times(read(d, data + m * apart), same(d, by.data() + 2 * m)), data + m * apart);
    }
  };
  // The inverse is the transform of conjugates; the last conjugates come with the factors.
  const auto conjugate = [&](int64_t count) HWY_ATTR {
    for (int64_t m = 0; m < count; ++m) {
      T* const im = data + m * apart + apart / 2;
      hn::Store(hn::Neg(hn::Load(d, im)), d, im);
    }
  };
  turn(plan.chirp, plan.length);
  for (int64_t m = plan.length; m < padded; ++m) {
    write(d, Complex<D>{hn::Zero(d), hn::Zero(d)}, data + m * apart);
  }
  transform(d, *plan.chirp_transform, data, work);
  turn(plan.chirp_spectrum, padded);
  conjugate(padded);
  transform(d, *plan.chirp_transform, data, work);
  conjugate(plan.length);
  turn(plan.chirp, plan.length);
}

// The transform of `data`, which points to it afterwards; `work` is as large.
template <class D, typename T>
void transform(D d, const Plan<T>& plan, T*& data, T*& work) {
  if (plan.chirp_transform) {
    transformByChirp(d, plan, data, work);
    return;
  }
  for (const Stage& stage : plan.stages) {
    switch (stage.radix) {
      case 2:
        runStage<2>(d, plan, stage, data, work);
        break;
      case 3:
        runStage<3>(d, plan, stage, data, work);
        break;
      case 4:
        runStage<4>(d, plan, stage, data, work);
        break;
      case 5:
        runStage<5>(d, plan, stage, data, work);
        break;
      case 7:
        runStage<7>(d, plan, stage, data, work);
        break;
      default:
        runOddStage(d, plan, stage, data, work);
    }
    std::swap(data, work);
  }
}

}  // namespace torchtrt::kernels::fourier::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TORCHTRT_KERNELS_FOURIER_STAGES_INL_H_
