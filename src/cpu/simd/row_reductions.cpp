#include "cpu/simd/row_reductions.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd/row_reductions.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>

#include "cpu/simd/math64-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::HWY_NAMESPACE {
namespace {

template <typename T>
using D = hn::ScalableTag<T>;
template <typename T>
using V = hn::Vec<D<T>>;

template <typename T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();

struct Add {
  template <typename T>
  static constexpr T kStart = 0;
  template <typename Vec>
  static HWY_INLINE Vec apply(Vec total, Vec x) {
    return hn::Add(total, x);
  }
};
struct Greater {
  template <typename T>
  static constexpr T kStart = -kInfinity<T>;
  template <typename Vec>
  static HWY_INLINE Vec apply(Vec total, Vec x) {
    return kernels::HWY_NAMESPACE::greater(total, x);
  }
};
struct Lesser {
  template <typename T>
  static constexpr T kStart = kInfinity<T>;
  template <typename Vec>
  static HWY_INLINE Vec apply(Vec total, Vec x) {
    return kernels::HWY_NAMESPACE::lesser(total, x);
  }
};

// Folds the lanes of a vector in a fixed order: each with the one half of those left further on.
template <typename Op, typename T>
T foldLanes(V<T> total) {
#if HWY_TARGET != HWY_SCALAR
  [[maybe_unused]] const D<T> d;
#if HWY_MAX_BYTES >= 32
  total = Op::apply(total, hn::ConcatLowerUpper(d, total, total));
#endif
#if HWY_MAX_BYTES == 64
  total = Op::apply(total, hn::SwapAdjacentBlocks(total));
#endif
  if constexpr (sizeof(T) == sizeof(float)) {
    total = Op::apply(total, hn::Shuffle1032(total));
    total = Op::apply(total, hn::Shuffle2301(total));
  } else {
    total = Op::apply(total, hn::Shuffle01(total));
  }
#endif
  return hn::GetLane(total);
}

// Folds transform(vector of values) over a row, in four interleaved strands.
template <typename Op, typename T, typename Transform>
HWY_INLINE T foldRow(int64_t count, Transform&& transform) {
  const D<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V<T> total[4];
  for (V<T>& strand : total) {
    strand = hn::Set(d, Op::template kStart<T>);
  }
  int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      total[j] = Op::apply(total[j], transform(i + j * lanes, lanes));
    }
  }
  for (; i < count; i += lanes) {
    const int64_t valid = count - i < lanes ? count - i : lanes;
    const auto mask = hn::FirstN(d, static_cast<size_t>(valid));
    total[0] = hn::IfThenElse(mask, Op::apply(total[0], transform(i, valid)), total[0]);
  }
  return foldLanes<Op, T>(Op::apply(Op::apply(total[0], total[1]), Op::apply(total[2], total[3])));
}

template <typename T>
HWY_INLINE V<T> load(const T* values, int64_t i, int64_t valid) {
  const D<T> d;
  return valid == static_cast<int64_t>(hn::Lanes(d))
             ? hn::LoadU(d, values + i)
             : hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(valid)), d, values + i);
}

template <typename T>
HWY_INLINE void store(V<T> value, T* to, int64_t i, int64_t valid) {
  const D<T> d;
  if (valid == static_cast<int64_t>(hn::Lanes(d))) {
    hn::StoreU(value, d, to + i);
  } else {
    hn::BlendedStore(value, hn::FirstN(d, static_cast<size_t>(valid)), d, to + i);
  }
}

template <typename T>
T sum(const T* values, int64_t count) {
  return foldRow<Add, T>(count, [values](int64_t i, int64_t valid) HWY_ATTR { return load(values, i, valid); });
}

template <typename T>
Deviations<T> deviations(const T* values, T mean, int64_t count) {
  const D<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V<T> sums[4];
  V<T> squares[4];
  for (int j = 0; j < 4; ++j) {
    sums[j] = squares[j] = hn::Zero(d);
  }
  const auto addTo = [&](int j, V<T> x) HWY_ATTR {
    sums[j] = hn::Add(sums[j], x);
    squares[j] = hn::MulAdd(x, x, squares[j]);
  };
  const V<T> from = hn::Set(d, mean);
  int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      addTo(j, hn::Sub(hn::LoadU(d, values + i + j * lanes), from));
    }
  }
  for (; i < count; i += lanes) {
    const int64_t valid = count - i < lanes ? count - i : lanes;
    const V<T> x = hn::Sub(load(values, i, valid), from);
    addTo(0, hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(valid)), x));
  }
  const auto total = [](const V<T>(&strands)[4]) HWY_ATTR {
    return foldLanes<Add, T>(hn::Add(hn::Add(strands[0], strands[1]), hn::Add(strands[2], strands[3])));
  };
  return {total(sums), total(squares)};
}

template <typename T>
T dot(const T* a, const T* b, int64_t count) {
  return foldRow<Add, T>(
      count, [a, b](int64_t i, int64_t valid) HWY_ATTR { return hn::Mul(load(a, i, valid), load(b, i, valid)); });
}

template <typename T>
T greatest(const T* values, int64_t count) {
  return foldRow<Greater, T>(count, [values](int64_t i, int64_t valid) HWY_ATTR { return load(values, i, valid); });
}

template <typename T>
T least(const T* values, int64_t count) {
  return foldRow<Lesser, T>(count, [values](int64_t i, int64_t valid) HWY_ATTR { return load(values, i, valid); });
}

template <typename T>
T exponentials(const T* in, T shift, T* out, int64_t count) {
  return foldRow<Add, T>(count, [in, shift, out](int64_t i, int64_t valid) HWY_ATTR {
    const V<T> value = exponential(hn::Sub(load(in, i, valid), hn::Set(D<T>(), shift)));
    if (out != nullptr) {
      store(value, out, i, valid);
    }
    return value;
  });
}

// store(f(i, valid)) over a row.
template <typename T, typename Function>
HWY_INLINE void mapRow(T* out, int64_t count, Function&& function) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D<T>()));
  for (int64_t i = 0; i < count; i += lanes) {
    const int64_t valid = count - i < lanes ? count - i : lanes;
    store(function(i, valid), out, i, valid);
  }
}

template <typename T>
void exponentialsEach(const T* in, const T* shifts, T* out, T* totals, int64_t count) {
  mapRow(totals, count, [in, shifts, out, totals](int64_t i, int64_t valid) HWY_ATTR {
    const V<T> value = exponential(hn::Sub(load(in, i, valid), load(shifts, i, valid)));
    if (out != nullptr) {
      store(value, out, i, valid);
    }
    return hn::Add(load(totals, i, valid), value);
  });
}

template <typename T>
void scale(const T* in, T factor, T offset, T* out, int64_t count) {
  mapRow(out, count, [in, factor, offset](int64_t i, int64_t valid) HWY_ATTR {
    return hn::MulAdd(load(in, i, valid), hn::Set(D<T>(), factor), hn::Set(D<T>(), offset));
  });
}

template <typename T>
void scaleEach(const T* in, const T* factors, const T* offsets, T* out, int64_t count) {
  mapRow(out, count, [in, factors, offsets](int64_t i, int64_t valid) HWY_ATTR {
    return hn::MulAdd(load(in, i, valid), load(factors, i, valid), load(offsets, i, valid));
  });
}

template <typename T>
void shiftTwice(const T* in, const T* first, const T* second, T* out, int64_t count) {
  mapRow(out, count, [in, first, second](int64_t i, int64_t valid) HWY_ATTR {
    return hn::Add(hn::Add(load(in, i, valid), load(first, i, valid)), load(second, i, valid));
  });
}

template <typename T>
void normalize(const T* in, T mean, T factor, const T* weights, const T* biases, T* out, int64_t count) {
  mapRow(out, count, [in, mean, factor, weights, biases](int64_t i, int64_t valid) HWY_ATTR {
    V<T> x = hn::Mul(hn::Sub(load(in, i, valid), hn::Set(D<T>(), mean)), hn::Set(D<T>(), factor));
    if (weights != nullptr) {
      x = hn::Mul(x, load(weights, i, valid));
    }
    return biases != nullptr ? hn::Add(x, load(biases, i, valid)) : x;
  });
}

template <typename T>
void normalizeEach(const T* in, const T* means, const T* factors, const T* biases, T* out, int64_t count) {
  mapRow(out, count, [in, means, factors, biases](int64_t i, int64_t valid) HWY_ATTR {
    return hn::MulAdd(hn::Sub(load(in, i, valid), load(means, i, valid)), load(factors, i, valid),
                      load(biases, i, valid));
  });
}

template <typename T>
void addDeviations(const T* values, const T* means, T* sums, T* squares, int64_t count) {
  mapRow(sums, count, [values, means, sums, squares](int64_t i, int64_t valid) HWY_ATTR {
    const V<T> x = hn::Sub(load(values, i, valid), load(means, i, valid));
    store(hn::MulAdd(x, x, load(squares, i, valid)), squares, i, valid);
    return hn::Add(load(sums, i, valid), x);
  });
}

template <typename Op, typename T>
void foldInto(const T* values, T* totals, int64_t count) {
  mapRow(totals, count, [values, totals](int64_t i, int64_t valid) HWY_ATTR {
    return Op::apply(load(totals, i, valid), load(values, i, valid));
  });
}

template <typename T>
constexpr RowReductionsOf<T> kFunctions = {sum,
                                           deviations,
                                           dot,
                                           greatest,
                                           least,
                                           exponentials,
                                           exponentialsEach,
                                           scale,
                                           scaleEach,
                                           shiftTwice,
                                           normalize,
                                           normalizeEach,
                                           addDeviations,
                                           foldInto<Add, T>,
                                           foldInto<Greater, T>,
                                           foldInto<Lesser, T>};

const RowReductionsOf<float>& floatFunctions() {
  return kFunctions<float>;
}
const RowReductionsOf<double>& doubleFunctions() {
  return kFunctions<double>;
}

}  // namespace
}  // namespace torchtrt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels {

HWY_EXPORT(floatFunctions);
HWY_EXPORT(doubleFunctions);

template <>
const RowReductionsOf<float>& rowReductions() {
  return HWY_DYNAMIC_DISPATCH(floatFunctions)();
}
template <>
const RowReductionsOf<double>& rowReductions() {
  return HWY_DYNAMIC_DISPATCH(doubleFunctions)();
}

}  // namespace torchtrt::kernels
#endif  // HWY_ONCE
