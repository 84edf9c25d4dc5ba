#include "cpu/topk/extremes.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/topk/extremes.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::topk::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
template <typename T>
using Tag = hn::ScalableTag<T>;
template <typename T>
using V = hn::Vec<Tag<T>>;

// Marks the x beyond the best so far. Comparisons with NaN are false.
template <bool kLargest, typename T>
HWY_INLINE hn::Mask<Tag<T>> areBeyond(V<T> best, V<T> x) {
  return kLargest ? hn::And(hn::Not(hn::IsNaN(best)), hn::Not(hn::Le(x, best)))
                  : hn::And(hn::Not(hn::IsNaN(x)), hn::Not(hn::Ge(x, best)));
}

template <bool kLargest, typename T>
bool isBeyond(T best, T x) {
  return kLargest ? best == best && !(x <= best) : x == x && !(x >= best);
}

// Every lane keeps its best, then the lanes are asked for where that is.
template <bool kLargest, typename T>
int64_t ofRow(const T* row, int64_t count) {
  const Tag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t place = 0;
  int64_t i = 0;
  if (count >= 4 * lanes) {
    V<T> best[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      best[j] = hn::LoadU(d, row + j * lanes);
    }
    for (i = 4 * lanes; i + 4 * lanes <= count; i += 4 * lanes) {
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        const V<T> x = hn::LoadU(d, row + i + j * lanes);
        best[j] = hn::IfThenElse(areBeyond<kLargest, T>(best[j], x), x, best[j]);
      }
    }
    HWY_ALIGN T of_lanes[4 * HWY_MAX_BYTES / sizeof(T)];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      hn::Store(best[j], d, of_lanes + j * lanes);
    }
    T value = of_lanes[0];
    for (int64_t lane = 1; lane < 4 * lanes; ++lane) {
      value = isBeyond<kLargest>(value, of_lanes[lane]) ? of_lanes[lane] : value;
    }
    const V<T> wanted = hn::Set(d, value);
    for (;; place += lanes) {
      const V<T> x = hn::LoadU(d, row + place);
      const auto found = value == value ? hn::Eq(x, wanted) : hn::IsNaN(x);
      if (const intptr_t lane = hn::FindFirstTrue(d, found); lane >= 0) {
        place += lane;
        break;
      }
    }
  }
  for (; i < count; ++i) {
    place = isBeyond<kLargest>(row[place], row[i]) ? i : place;
  }
  return place;
}

template <bool kLargest, typename T>
void update(const T* elements, typename Extremes<T>::Place position, T* best, typename Extremes<T>::Place* places,
            int64_t rows) {
  const Tag<T> d;
  const hn::RebindToSigned<Tag<T>> di;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto at = hn::Set(di, position);
  int64_t i = 0;
  for (; i + lanes <= rows; i += lanes) {
    const V<T> x = hn::LoadU(d, elements + i);
    const V<T> so_far = hn::LoadU(d, best + i);
    const auto beyond = areBeyond<kLargest, T>(so_far, x);
    hn::StoreU(hn::IfThenElse(beyond, x, so_far), d, best + i);
    hn::StoreU(hn::IfThenElse(hn::RebindMask(di, beyond), at, hn::LoadU(di, places + i)), di, places + i);
  }
  for (; i < rows; ++i) {
    if (isBeyond<kLargest>(best[i], elements[i])) {
      best[i] = elements[i];
      places[i] = position;
    }
  }
}

template <bool kLargest, typename T>
int64_t findBeyond(const T* row, int64_t begin, int64_t end, T best) {
  const Tag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V<T> so_far = hn::Set(d, best);
  int64_t i = begin;
  for (; i + lanes <= end; i += lanes) {
    const auto beyond = areBeyond<kLargest, T>(so_far, hn::LoadU(d, row + i));
    if (const intptr_t lane = hn::FindFirstTrue(d, beyond); lane >= 0) {
      return i + lane;
    }
  }
  while (i < end && !isBeyond<kLargest>(best, row[i])) {
    ++i;
  }
  return i;
}

template <bool kLargest, typename T>
constexpr Extremes<T> kFunctions = {ofRow<kLargest, T>, update<kLargest, T>, findBeyond<kLargest, T>};

const Extremes<float>& extremesOfFloats(bool largest) {
  return largest ? kFunctions<true, float> : kFunctions<false, float>;
}
const Extremes<double>& extremesOfDoubles(bool largest) {
  return largest ? kFunctions<true, double> : kFunctions<false, double>;
}

}  // namespace
}  // namespace torchtrt::kernels::topk::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::topk {

HWY_EXPORT(extremesOfFloats);
HWY_EXPORT(extremesOfDoubles);

template <>
const Extremes<float>& extremes<float>(bool largest) {
  return HWY_DYNAMIC_DISPATCH(extremesOfFloats)(largest);
}
template <>
const Extremes<double>& extremes<double>(bool largest) {
  return HWY_DYNAMIC_DISPATCH(extremesOfDoubles)(largest);
}

}  // namespace torchtrt::kernels::topk
#endif  // HWY_ONCE
