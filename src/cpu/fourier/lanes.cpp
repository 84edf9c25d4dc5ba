#include "cpu/fourier/lanes.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/fourier/lanes.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <utility>

#include "cpu/fourier/stages-inl.h"
#include "cpu/movement/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::fourier::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
namespace movement = kernels::HWY_NAMESPACE;

// Calls visit(offset, lane, count) for lanes that lie in one row of the layout.
template <typename Visit>
HWY_INLINE void forEachRun(const Layout& layout, int64_t first, int64_t count, Visit visit) {
  for (int64_t lane = 0; lane < count;) {
    const int64_t place = (first + lane) % layout.inner;
    const int64_t run = std::min(count - lane, layout.inner - place);
    visit((first + lane) / layout.inner * layout.outer_step + place * layout.lane_step, lane, run);
    lane += run;
  }
}

// Number m of every lane at target + m * apart; zeros for those that there are not.
template <class D, typename T = hn::TFromD<D>>
void load(D d, const T* source, const Layout& layout, int64_t first, int64_t count, int64_t numbers, T* target,
          int64_t apart) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t given = source == nullptr ? 0 : std::min(layout.count, numbers);
  const auto zero = hn::Zero(d);
  for (int64_t m = count < lanes ? 0 : given; m < numbers; ++m) {
    hn::Store(zero, d, target + m * apart);
  }
  if (given == 0) {
    return;
  }
  forEachRun(layout, first, count, [&](int64_t offset, int64_t lane, int64_t run) HWY_ATTR {
    const T* const from = source + offset;
    if (layout.step == 1) {
      movement::transposeByTiles(d, from, layout.lane_step, target + lane, apart, run, given);
      return;
    }
    for (int64_t m = 0; m < given; ++m) {
      const T* const numbers_of_all = from + m * layout.step;
      T* const to = target + m * apart + lane;
      if (layout.lane_step == 1 && run == lanes) {
        hn::StoreU(hn::LoadU(d, numbers_of_all), d, to);
      } else {
        for (int64_t i = 0; i < run; ++i) {
          to[i] = numbers_of_all[i * layout.lane_step];
        }
      }
    }
  });
}

// Number m of every lane from source + m * apart.
template <class D, typename T = hn::TFromD<D>>
void store(D d, const T* source, int64_t apart, T* target, const Layout& layout, int64_t first, int64_t count) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  forEachRun(layout, first, count, [&](int64_t offset, int64_t lane, int64_t run) HWY_ATTR {
    T* const to = target + offset;
    if (layout.step == 1) {
      movement::transposeByTiles(d, source + lane, apart, to, layout.lane_step, layout.count, run);
      return;
    }
    for (int64_t m = 0; m < layout.count; ++m) {
      const T* const from = source + m * apart + lane;
      T* const numbers_of_all = to + m * layout.step;
      if (layout.lane_step == 1 && run == lanes) {
        hn::StoreU(hn::LoadU(d, from), d, numbers_of_all);
      } else {
        for (int64_t i = 0; i < run; ++i) {
          numbers_of_all[i * layout.lane_step] = from[i];
        }
      }
    }
  });
}

// Vector m times factors[m], or without those all times `factor`.
template <class D, typename T = hn::TFromD<D>>
void multiply(D d, T* data, int64_t apart, int64_t numbers, const T* factors, T factor) {
  if (factors == nullptr && factor == T(1)) {
    return;
  }
  for (int64_t m = 0; m < numbers; ++m) {
    const auto by = hn::Set(d, factors == nullptr ? factor : factors[m] * factor);
    hn::Store(hn::Mul(hn::Load(d, data + m * apart), by), d, data + m * apart);
  }
}

// Computes the h + 1 sums of the real numbers from the transform of x[2m] + i x[2m + 1], of h numbers.
template <class D, typename T = hn::TFromD<D>>
void untwist(D d, const T* z, int64_t h, const T* twist, T scale, T* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto whole = hn::Set(d, scale);
  const auto half = hn::Set(d, scale / 2);
  const auto zr0 = hn::Load(d, z);
  const auto zi0 = hn::Load(d, z + lanes);
  hn::Store(hn::Mul(whole, hn::Add(zr0, zi0)), d, out);
  hn::Store(hn::Zero(d), d, out + lanes);
  hn::Store(hn::Mul(whole, hn::Sub(zr0, zi0)), d, out + 2 * h * lanes);
  hn::Store(hn::Zero(d), d, out + (2 * h + 1) * lanes);
  for (int64_t k = 1; 2 * k <= h; ++k) {
    const T* const a = z + 2 * k * lanes;
    const T* const b = z + 2 * (h - k) * lanes;
    const auto ar = hn::Load(d, a), ai = hn::Load(d, a + lanes);
    const auto br = hn::Load(d, b), bi = hn::Load(d, b + lanes);
    const auto even_re = hn::Add(ar, br), even_im = hn::Sub(ai, bi);
    const auto odd_re = hn::Add(ai, bi), odd_im = hn::Sub(br, ar);
    const auto wr = hn::Set(d, twist[2 * k]), wi = hn::Set(d, twist[2 * k + 1]);
    const auto re = hn::NegMulAdd(odd_im, wi, hn::Mul(odd_re, wr));
    const auto im = hn::MulAdd(odd_re, wi, hn::Mul(odd_im, wr));
    T* const low = out + 2 * k * lanes;
    T* const high = out + 2 * (h - k) * lanes;
    hn::Store(hn::Mul(half, hn::Sub(even_re, re)), d, high);
    hn::Store(hn::Mul(half, hn::Sub(im, even_im)), d, high + lanes);
    hn::Store(hn::Mul(half, hn::Add(even_re, re)), d, low);
    hn::Store(hn::Mul(half, hn::Add(even_im, im)), d, low + lanes);
  }
}

// The way back: conjugates of what a transform of h numbers makes conjugates of x[2m] + i x[2m + 1] from.
template <class D, typename T = hn::TFromD<D>>
void retwist(D d, const T* x, int64_t h, const T* twist, T* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto first = hn::Load(d, x);
  const auto last = hn::Load(d, x + 2 * h * lanes);
  hn::Store(hn::Add(first, last), d, out);
  hn::Store(hn::Sub(last, first), d, out + lanes);
  for (int64_t k = 1; 2 * k <= h; ++k) {
    const T* const a = x + 2 * k * lanes;
    const T* const b = x + 2 * (h - k) * lanes;
    const auto ar = hn::Load(d, a), ai = hn::Load(d, a + lanes);
    const auto br = hn::Load(d, b), bi = hn::Load(d, b + lanes);
    const auto even_re = hn::Add(ar, br), even_im = hn::Sub(ai, bi);
    const auto odd_re = hn::Sub(ar, br), odd_im = hn::Add(ai, bi);
    const auto wr = hn::Set(d, twist[2 * k]), wi = hn::Set(d, -twist[2 * k + 1]);
    const auto re = hn::NegMulAdd(odd_im, wi, hn::Mul(odd_re, wr));
    const auto im = hn::MulAdd(odd_re, wi, hn::Mul(odd_im, wr));
    T* const low = out + 2 * k * lanes;
    T* const high = out + 2 * (h - k) * lanes;
    hn::Store(hn::Add(even_re, im), d, high);
    hn::Store(hn::Sub(even_im, re), d, high + lanes);
    hn::Store(hn::Sub(even_re, im), d, low);
    hn::Store(hn::Neg(hn::Add(even_im, re)), d, low + lanes);
  }
}

// Numbers `from` to `to` are conjugates of those at n less their place.
template <class D, typename T = hn::TFromD<D>>
void mirror(D d, T* data, int64_t n, int64_t from, int64_t to) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t k = from; k < to; ++k) {
    const T* const source = data + 2 * (n - k) * lanes;
    hn::Store(hn::Load(d, source), d, data + 2 * k * lanes);
    hn::Store(hn::Neg(hn::Load(d, source + lanes)), d, data + (2 * k + 1) * lanes);
  }
}

template <class D, typename T = hn::TFromD<D>>
void storeComplex(D d, const Task<T>& task, const T* re, const T* im, int64_t first, int64_t count) {
  const auto apart = static_cast<int64_t>(2 * hn::Lanes(d));
  store(d, re, apart, task.out_re, task.out, first, count);
  store(d, im, apart, task.out_im, task.out, first, count);
}

template <class D, typename T = hn::TFromD<D>>
void runComplex(D d, const Task<T>& task, int64_t first, int64_t count, T* data, T* work) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  // The inverse is the transform with the parts exchanged.
  const int64_t re = task.inverse ? lanes : 0, im = lanes - re;
  load(d, task.in_re, task.in, first, count, task.length, data + re, 2 * lanes);
  load(d, task.in_im, task.in, first, count, task.length, data + im, 2 * lanes);
  transform(d, *task.plan, data, work);
  multiply(d, data, lanes, 2 * task.length, static_cast<const T*>(nullptr), task.scale);
  storeComplex(d, task, data + re, data + im, first, count);
}

template <class D, typename T = hn::TFromD<D>>
void runForward(D d, const Task<T>& task, int64_t first, int64_t count, T* data, T* work) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t n = task.length, h = n / 2;
  if (n % 2 == 0) {
    load(d, task.in_re, task.in, first, count, n, data, lanes);
    multiply(d, data, lanes, n, task.window, T(1));
    transform(d, *task.plan, data, work);
    untwist(d, data, h, task.twist, task.scale, work);
    std::swap(data, work);
  } else {
    load(d, task.in_re, task.in, first, count, n, data, 2 * lanes);
    load(d, static_cast<const T*>(nullptr), task.in, first, count, n, data + lanes, 2 * lanes);
    multiply(d, data, 2 * lanes, n, task.window, T(1));
    transform(d, *task.plan, data, work);
    multiply(d, data, lanes, 2 * (h + 1), static_cast<const T*>(nullptr), task.scale);
    hn::Store(hn::Zero(d), d, data + lanes);
  }
  if (task.form == Form::kRealToFull) {
    mirror(d, data, n, h + 1, n);
  }
  storeComplex(d, task, data, data + lanes, first, count);
}

template <class D, typename T = hn::TFromD<D>>
void runBackward(D d, const Task<T>& task, int64_t first, int64_t count, T* data, T* work) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t n = task.length, h = n / 2;
  load(d, task.in_re, task.in, first, count, h + 1, data, 2 * lanes);
  load(d, task.in_im, task.in, first, count, h + 1, data + lanes, 2 * lanes);
  if (n % 2 == 0) {
    retwist(d, data, h, task.twist, work);
    std::swap(data, work);
    transform(d, *task.plan, data, work);
    for (int64_t m = 0; m < n; ++m) {  // conjugates are wanted
      const T factor = (task.window == nullptr ? T(1) : task.window[m]) * (m % 2 == 0 ? task.scale : -task.scale);
      hn::Store(hn::Mul(hn::Load(d, data + m * lanes), hn::Set(d, factor)), d, data + m * lanes);
    }
    store(d, data, lanes, task.out_re, task.out, first, count);
    return;
  }
  hn::Store(hn::Zero(d), d, data + lanes);
  mirror(d, data, n, h + 1, n);
  for (int64_t k = 0; k < n; ++k) {
    T* const im = data + (2 * k + 1) * lanes;
    hn::Store(hn::Neg(hn::Load(d, im)), d, im);
  }
  transform(d, *task.plan, data, work);
  multiply(d, data, 2 * lanes, n, task.window, task.scale);
  store(d, data, 2 * lanes, task.out_re, task.out, first, count);
}

template <class D, typename T = hn::TFromD<D>>
void run(const Task<T>& task, int64_t first, int64_t count, T* memory) {
  const D d;
  T* const work = memory + memoryLength(task, static_cast<int64_t>(hn::Lanes(d))) / 2;
  if (task.form == Form::kComplex) {
    runComplex(d, task, first, count, memory, work);
  } else if (task.form == Form::kHalfToReal) {
    runBackward(d, task, first, count, memory, work);
  } else {
    runForward(d, task, first, count, memory, work);
  }
}

template <typename T>
LaneFunctions<T> functions(int64_t count, int64_t length) {
  constexpr size_t kMostLanes = 16;
  constexpr size_t kFew = 16 / sizeof(T);  // the rest of a longer vector would only fill the cache
  constexpr int64_t kLong = 8192;          // 16 of them do not stay in the second-level cache
  using Wide = hn::CappedTag<T, kMostLanes>;
  using Narrow = hn::CappedTag<T, kFew>;
  if (count <= static_cast<int64_t>(length < kLong ? kFew : 2 * kFew)) {
    return {static_cast<int64_t>(hn::Lanes(Narrow())), run<Narrow>};
  }
  return {static_cast<int64_t>(hn::Lanes(Wide())), run<Wide>};
}
LaneFunctions<float> floatFunctions(int64_t count, int64_t length) {
  return functions<float>(count, length);
}
LaneFunctions<double> doubleFunctions(int64_t count, int64_t length) {
  return functions<double>(count, length);
}

}  // namespace
}  // namespace torchtrt::kernels::fourier::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::fourier {

HWY_EXPORT(floatFunctions);
HWY_EXPORT(doubleFunctions);

template <>
LaneFunctions<float> laneFunctions(int64_t count, int64_t length) {
  return HWY_DYNAMIC_DISPATCH(floatFunctions)(count, length);
}
template <>
LaneFunctions<double> laneFunctions(int64_t count, int64_t length) {
  return HWY_DYNAMIC_DISPATCH(doubleFunctions)(count, length);
}

}  // namespace torchtrt::kernels::fourier
#endif  // HWY_ONCE
