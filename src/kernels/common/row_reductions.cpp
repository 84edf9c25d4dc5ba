#include "kernels/common/row_reductions.h"

#include "kernels/common/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/common/row_reductions.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>

#include "kernels/common/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::HWY_NAMESPACE {
namespace {

using D = FloatTag;
using V = FloatVec;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Add {
  static constexpr float kStart = 0.0F;
  static HWY_INLINE V apply(V total, V x) {
    return hn::Add(total, x);
  }
};
struct Greater {
  static constexpr float kStart = -kInfinity;
  static HWY_INLINE V apply(V total, V x) {
    return kernels::HWY_NAMESPACE::greater(total, x);
  }
};
struct Lesser {
  static constexpr float kStart = kInfinity;
  static HWY_INLINE V apply(V total, V x) {
    return kernels::HWY_NAMESPACE::lesser(total, x);
  }
};

// Folds the lanes of a vector in a fixed order: each with the one half of those left further on.
template <typename Op>
float foldLanes(V total) {
#if HWY_TARGET != HWY_SCALAR
  [[maybe_unused]] const D d;
#if HWY_MAX_BYTES >= 32
  total = Op::apply(total, hn::ConcatLowerUpper(d, total, total));
#endif
#if HWY_MAX_BYTES == 64
  total = Op::apply(total, hn::SwapAdjacentBlocks(total));
#endif
  total = Op::apply(total, hn::Shuffle1032(total));
  total = Op::apply(total, hn::Shuffle2301(total));
#endif
  return hn::GetLane(total);
}

// Folds transform(vector of values) over a row, in four interleaved strands.
template <typename Op, typename Transform>
HWY_INLINE float foldRow(int64_t count, Transform&& transform) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V total[4];
  for (V& strand : total) {
    strand = hn::Set(d, Op::kStart);
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
  return foldLanes<Op>(Op::apply(Op::apply(total[0], total[1]), Op::apply(total[2], total[3])));
}

HWY_INLINE V load(const float* values, int64_t i, int64_t valid) {
  const D d;
  return valid == static_cast<int64_t>(hn::Lanes(d))
             ? hn::LoadU(d, values + i)
             : hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(valid)), d, values + i);
}

HWY_INLINE void store(V value, float* to, int64_t i, int64_t valid) {
  const D d;
  if (valid == static_cast<int64_t>(hn::Lanes(d))) {
    hn::StoreU(value, d, to + i);
  } else {
    hn::BlendedStore(value, hn::FirstN(d, static_cast<size_t>(valid)), d, to + i);
  }
}

float sum(const float* values, int64_t count) {
  return foldRow<Add>(count, [values](int64_t i, int64_t valid) HWY_ATTR { return load(values, i, valid); });
}

float sumSquares(const float* values, float mean, int64_t count) {
  return foldRow<Add>(count, [values, mean](int64_t i, int64_t valid) HWY_ATTR {
    const V x = hn::Sub(load(values, i, valid), hn::Set(D(), mean));
    return hn::Mul(x, x);
  });
}

float dot(const float* a, const float* b, int64_t count) {
  return foldRow<Add>(
      count, [a, b](int64_t i, int64_t valid) HWY_ATTR { return hn::Mul(load(a, i, valid), load(b, i, valid)); });
}

float greatest(const float* values, int64_t count) {
  return foldRow<Greater>(count, [values](int64_t i, int64_t valid) HWY_ATTR { return load(values, i, valid); });
}

float least(const float* values, int64_t count) {
  return foldRow<Lesser>(count, [values](int64_t i, int64_t valid) HWY_ATTR { return load(values, i, valid); });
}

float exponentials(const float* in, float shift, float* out, int64_t count) {
  return foldRow<Add>(count, [in, shift, out](int64_t i, int64_t valid) HWY_ATTR {
    const V value = exponential(hn::Sub(load(in, i, valid), hn::Set(D(), shift)));
    if (out != nullptr) {
      store(value, out, i, valid);
    }
    return value;
  });
}

// store(f(i, valid)) over a row.
template <typename Function>
HWY_INLINE void mapRow(float* out, int64_t count, Function&& function) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  for (int64_t i = 0; i < count; i += lanes) {
    const int64_t valid = count - i < lanes ? count - i : lanes;
    store(function(i, valid), out, i, valid);
  }
}

void exponentialsEach(const float* in, const float* shifts, float* out, float* totals, int64_t count) {
  mapRow(totals, count, [in, shifts, out, totals](int64_t i, int64_t valid) HWY_ATTR {
    const V value = exponential(hn::Sub(load(in, i, valid), load(shifts, i, valid)));
    if (out != nullptr) {
      store(value, out, i, valid);
    }
    return hn::Add(load(totals, i, valid), value);
  });
}

void scale(const float* in, float factor, float offset, float* out, int64_t count) {
  mapRow(out, count, [in, factor, offset](int64_t i, int64_t valid) HWY_ATTR {
    return hn::MulAdd(load(in, i, valid), hn::Set(D(), factor), hn::Set(D(), offset));
  });
}

void scaleEach(const float* in, const float* factors, const float* offsets, float* out, int64_t count) {
  mapRow(out, count, [in, factors, offsets](int64_t i, int64_t valid) HWY_ATTR {
    return hn::MulAdd(load(in, i, valid), load(factors, i, valid), load(offsets, i, valid));
  });
}

void shiftTwice(const float* in, const float* first, const float* second, float* out, int64_t count) {
  mapRow(out, count, [in, first, second](int64_t i, int64_t valid) HWY_ATTR {
    return hn::Add(hn::Add(load(in, i, valid), load(first, i, valid)), load(second, i, valid));
  });
}

void normalize(const float* in, float mean, float factor, const float* weights, const float* biases, float* out,
               int64_t count) {
  mapRow(out, count, [in, mean, factor, weights, biases](int64_t i, int64_t valid) HWY_ATTR {
    V x = hn::Mul(hn::Sub(load(in, i, valid), hn::Set(D(), mean)), hn::Set(D(), factor));
    if (weights != nullptr) {
      x = hn::Mul(x, load(weights, i, valid));
    }
    return biases != nullptr ? hn::Add(x, load(biases, i, valid)) : x;
  });
}

template <typename Op>
void foldInto(const float* values, float* totals, int64_t count) {
  mapRow(totals, count, [values, totals](int64_t i, int64_t valid) HWY_ATTR {
    return Op::apply(load(totals, i, valid), load(values, i, valid));
  });
}

constexpr RowReductions kFunctions = {
    sum,   sumSquares, dot,        greatest,  least,         exponentials,      exponentialsEach,
    scale, scaleEach,  shiftTwice, normalize, foldInto<Add>, foldInto<Greater>, foldInto<Lesser>};

const RowReductions& functionsForTarget() {
  return kFunctions;
}

}  // namespace
}  // namespace torchtrt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels {

HWY_EXPORT(functionsForTarget);

const RowReductions& rowReductions() {
  return HWY_DYNAMIC_DISPATCH(functionsForTarget)();
}

}  // namespace torchtrt::kernels
#endif  // HWY_ONCE
