// Integers next to floating-point vectors, zeros with their signs. Included once per instruction set.

#if defined(TORCHTRT_KERNELS_COMMON_ROUNDING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCHTRT_KERNELS_COMMON_ROUNDING_INL_H_
#undef TORCHTRT_KERNELS_COMMON_ROUNDING_INL_H_
#else
#define TORCHTRT_KERNELS_COMMON_ROUNDING_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::HWY_NAMESPACE {

// Highway's scalar variants give ceil(0) and floor(-0) the other sign and round 0.49999997 to 1: there the C library
// rounds.
template <typename V>
HWY_INLINE V roundUp(V x) {
  if constexpr (HWY_TARGET == HWY_SCALAR) {
    return V(std::ceil(hwy::HWY_NAMESPACE::GetLane(x)));
  } else {
    return hwy::HWY_NAMESPACE::Ceil(x);
  }
}

template <typename V>
HWY_INLINE V roundDown(V x) {
  if constexpr (HWY_TARGET == HWY_SCALAR) {
    return V(std::floor(hwy::HWY_NAMESPACE::GetLane(x)));
  } else {
    return hwy::HWY_NAMESPACE::Floor(x);
  }
}

// Rounds to the nearest, of two to the even one.
template <typename V>
HWY_INLINE V roundToEven(V x) {
  if constexpr (HWY_TARGET == HWY_SCALAR) {
    return V(std::nearbyint(hwy::HWY_NAMESPACE::GetLane(x)));
  } else {
    return hwy::HWY_NAMESPACE::Round(x);
  }
}

}  // namespace torchtrt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
