#include "cpu/reduce/wide_rows.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/reduce/wide_rows.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::reduce::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
using Narrow = hn::Rebind<float, D>;

HWY_INLINE V load(const float* from) {
  return hn::PromoteTo(D(), hn::LoadU(Narrow(), from));
}
HWY_INLINE V load(const double* from) {
  return hn::LoadU(D(), from);
}

template <WideOp kOp>
constexpr double kStart = kOp == WideOp::kProduct ? 1.0 : 0.0;

template <WideOp kOp>
HWY_INLINE V apply(V total, V x) {
  if constexpr (kOp == WideOp::kProduct) {
    return hn::Mul(total, x);
  } else if constexpr (kOp == WideOp::kNorm1) {
    return hn::Add(total, hn::Abs(x));
  } else {
    return hn::MulAdd(x, x, total);  // exact of a float32
  }
}

template <WideOp kOp>
double apply(double total, double x) {
  if constexpr (kOp == WideOp::kProduct) {
    return total * x;
  } else if constexpr (kOp == WideOp::kNorm1) {
    return total + (x < 0 ? -x : x);
  } else {
    return total + x * x;
  }
}

template <WideOp kOp>
HWY_INLINE V join(V a, V b) {
  return kOp == WideOp::kProduct ? hn::Mul(a, b) : hn::Add(a, b);
}

template <WideOp kOp, typename T>
double ofRow(const T* values, int64_t count) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V totals[4];
  for (V& total : totals) {
    total = hn::Set(d, kStart<kOp>);
  }
  int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      totals[j] = apply<kOp>(totals[j], load(values + i + j * lanes));
    }
  }
  HWY_ALIGN double partial[HWY_MAX_BYTES / sizeof(double)];
  hn::Store(join<kOp>(join<kOp>(totals[0], totals[1]), join<kOp>(totals[2], totals[3])), d, partial);
  double result = partial[0];
  for (int64_t lane = 1; lane < lanes; ++lane) {
    result = kOp == WideOp::kProduct ? result * partial[lane] : result + partial[lane];
  }
  for (; i < count; ++i) {
    result = apply<kOp>(result, static_cast<double>(values[i]));
  }
  return result;
}

template <WideOp kOp, typename T>
void fold(const T* values, double* totals, int64_t count) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(apply<kOp>(hn::LoadU(d, totals + i), load(values + i)), d, totals + i);
  }
  for (; i < count; ++i) {
    totals[i] = apply<kOp>(totals[i], static_cast<double>(values[i]));
  }
}

template <typename T>
WideRows<T> functionsOf(WideOp op) {
  switch (op) {
    case WideOp::kProduct:
      return {ofRow<WideOp::kProduct>, fold<WideOp::kProduct>};
    case WideOp::kNorm1:
      return {ofRow<WideOp::kNorm1>, fold<WideOp::kNorm1>};
    case WideOp::kNorm2:
      break;
  }
  return {ofRow<WideOp::kNorm2>, fold<WideOp::kNorm2>};
}

WideRows<float> floatRows(WideOp op) {
  return functionsOf<float>(op);
}
WideRows<double> doubleRows(WideOp op) {
  return functionsOf<double>(op);
}

}  // namespace
}  // namespace torchtrt::kernels::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::reduce {

HWY_EXPORT(floatRows);
HWY_EXPORT(doubleRows);

template <>
WideRows<float> wideRows(WideOp op) {
  return HWY_DYNAMIC_DISPATCH(floatRows)(op);
}
template <>
WideRows<double> wideRows(WideOp op) {
  return HWY_DYNAMIC_DISPATCH(doubleRows)(op);
}

}  // namespace torchtrt::kernels::reduce
#endif  // HWY_ONCE
