#include "kernels/topk/extremes.h"

#include "kernels/common/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/topk/extremes.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::topk::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using Places = hn::RebindToSigned<D>;

// Where x is beyond the best so far. Comparisons with NaN are false.
template <bool kLargest>
HWY_INLINE hn::Mask<D> isBeyond(V best, V x) {
  return kLargest ? hn::And(hn::Not(hn::IsNaN(best)), hn::Not(hn::Le(x, best)))
                  : hn::And(hn::Not(hn::IsNaN(x)), hn::Not(hn::Ge(x, best)));
}

template <bool kLargest>
bool isBeyond(float best, float x) {
  return kLargest ? best == best && !(x <= best) : x == x && !(x >= best);
}

// Every lane keeps its best, then the lanes are asked for where that is.
template <bool kLargest>
int64_t ofRow(const float* row, int64_t count) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t place = 0;
  int64_t i = 0;
  if (count >= 4 * lanes) {
    V best[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      best[j] = hn::LoadU(d, row + j * lanes);
    }
    for (i = 4 * lanes; i + 4 * lanes <= count; i += 4 * lanes) {
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        const V x = hn::LoadU(d, row + i + j * lanes);
        best[j] = hn::IfThenElse(isBeyond<kLargest>(best[j], x), x, best[j]);
      }
    }
    HWY_ALIGN float of_lanes[4 * HWY_MAX_BYTES / sizeof(float)];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      hn::Store(best[j], d, of_lanes + j * lanes);
    }
    float value = of_lanes[0];
    for (int64_t lane = 1; lane < 4 * lanes; ++lane) {
      value = isBeyond<kLargest>(value, of_lanes[lane]) ? of_lanes[lane] : value;
    }
    const V wanted = hn::Set(d, value);
    for (;; place += lanes) {
      const V x = hn::LoadU(d, row + place);
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

template <bool kLargest>
void update(const float* elements, int32_t position, float* best, int32_t* places, int64_t rows) {
  const D d;
  const Places di;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto at = hn::Set(di, position);
  int64_t i = 0;
  for (; i + lanes <= rows; i += lanes) {
    const V x = hn::LoadU(d, elements + i);
    const V so_far = hn::LoadU(d, best + i);
    const auto beyond = isBeyond<kLargest>(so_far, x);
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

template <bool kLargest>
constexpr Extremes kFunctions = {ofRow<kLargest>, update<kLargest>};

const Extremes& functionsForTarget(bool largest) {
  return largest ? kFunctions<true> : kFunctions<false>;
}

}  // namespace
}  // namespace torchtrt::kernels::topk::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::topk {

HWY_EXPORT(functionsForTarget);

const Extremes& extremes(bool largest) {
  return HWY_DYNAMIC_DISPATCH(functionsForTarget)(largest);
}

}  // namespace torchtrt::kernels::topk
#endif  // HWY_ONCE
