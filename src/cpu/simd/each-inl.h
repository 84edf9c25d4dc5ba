// Plain loops that the compiler makes vectors of for every instruction set, inside Highway's regions: blocks of a known
// length, which it does not need to weigh against a scalar loop. For what has no vector operations worth writing down
// (mixed widths, selections, comparisons that give bytes). Included once per instruction set, like every *-inl.h of
// Highway.

#if defined(TORCHTRT_KERNELS_COMMON_EACH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCHTRT_KERNELS_COMMON_EACH_INL_H_
#undef TORCHTRT_KERNELS_COMMON_EACH_INL_H_
#else
#define TORCHTRT_KERNELS_COMMON_EACH_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::HWY_NAMESPACE {

inline constexpr int64_t kEachBlock = 32;  // elements: a whole number of vectors of every width

// out[i] = function(a[i]). The results lie apart from the operands, here and below.
template <typename A, typename Out, typename Function>
HWY_INLINE void eachOf(const A* HWY_RESTRICT a, Out* HWY_RESTRICT out, int64_t count, Function function) {
  int64_t i = 0;
  for (; i + kEachBlock <= count; i += kEachBlock) {
    for (int64_t j = 0; j < kEachBlock; ++j) {
      out[i + j] = function(a[i + j]);
    }
  }
  for (; i < count; ++i) {
    out[i] = function(a[i]);
  }
}

// out[i] = function(a[i], b[i]), with one element of a or b for all of them where so said.
template <bool kRepeatA, bool kRepeatB, typename A, typename B, typename Out, typename Function>
HWY_INLINE void eachOfTwo(const A* HWY_RESTRICT a, const B* HWY_RESTRICT b, Out* HWY_RESTRICT out, int64_t count,
                          Function function) {
  const A whole_a = *a;
  const B whole_b = *b;
  int64_t i = 0;
  for (; i + kEachBlock <= count; i += kEachBlock) {
    for (int64_t j = 0; j < kEachBlock; ++j) {
      out[i + j] = function(kRepeatA ? whole_a : a[i + j], kRepeatB ? whole_b : b[i + j]);
    }
  }
  for (; i < count; ++i) {
    out[i] = function(kRepeatA ? whole_a : a[i], kRepeatB ? whole_b : b[i]);
  }
}

}  // namespace torchtrt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TORCHTRT_KERNELS_COMMON_EACH_INL_H_
