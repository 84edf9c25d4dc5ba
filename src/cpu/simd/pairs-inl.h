// Neighbours of two vectors told apart. Included once per instruction set.

#if defined(TORCHTRT_KERNELS_COMMON_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCHTRT_KERNELS_COMMON_PAIRS_INL_H_
#undef TORCHTRT_KERNELS_COMMON_PAIRS_INL_H_
#else
#define TORCHTRT_KERNELS_COMMON_PAIRS_INL_H_
#endif

#include "cpu/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::HWY_NAMESPACE {

// Every second of the elements of both, from the first (even) or the second on (odd).
template <typename V>
HWY_INLINE V even(V low, V high) {
#if HWY_TARGET == HWY_SCALAR
  (void)high;
  return low;
#else
  return hn::ConcatEven(hn::DFromV<V>(), high, low);
#endif
}

template <typename V>
HWY_INLINE V odd(V low, V high) {
#if HWY_TARGET == HWY_SCALAR
  (void)low;
  return high;
#else
  return hn::ConcatOdd(hn::DFromV<V>(), high, low);
#endif
}

}  // namespace torchtrt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
