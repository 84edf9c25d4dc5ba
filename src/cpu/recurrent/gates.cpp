#include "cpu/recurrent/gates.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/recurrent/gates.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::HWY_NAMESPACE {
namespace {

using V = FloatVec;
using Mask = hn::Mask<FloatTag>;

HWY_INLINE V load(Mask mask, const float* from) {
  return hn::MaskedLoad(mask, FloatTag(), from);
}

HWY_INLINE void store(V value, Mask mask, float* to) {
  hn::BlendedStore(value, mask, FloatTag(), to);
}

struct Lstm {
  static HWY_INLINE void apply(Mask mask, const float* x, const float* h, int64_t hidden, float* state, float* cell) {
    const auto gate = [&](int64_t g)
                          HWY_ATTR { return hn::Add(load(mask, x + g * hidden), load(mask, h + g * hidden)); };
    const V added = hn::Mul(logistic(gate(0)), hyperbolicTangent(gate(2)));
    const V next = hn::MulAdd(logistic(gate(1)), load(mask, cell), added);
    store(next, mask, cell);
    store(hn::Mul(logistic(gate(3)), hyperbolicTangent(next)), mask, state);
  }
};

struct Gru {
  static HWY_INLINE void apply(Mask mask, const float* x, const float* h, int64_t hidden, float* state, float*) {
    const V reset = logistic(hn::Add(load(mask, x), load(mask, h)));
    const V kept = logistic(hn::Add(load(mask, x + hidden), load(mask, h + hidden)));
    const V fresh = hyperbolicTangent(hn::MulAdd(reset, load(mask, h + 2 * hidden), load(mask, x + 2 * hidden)));
    store(hn::MulAdd(hn::Sub(load(mask, state), fresh), kept, fresh), mask, state);
  }
};

struct Tanh {
  static HWY_INLINE void apply(Mask mask, const float* x, const float* h, int64_t, float* state, float*) {
    store(hyperbolicTangent(hn::Add(load(mask, x), load(mask, h))), mask, state);
  }
};

struct Relu {
  static HWY_INLINE void apply(Mask mask, const float* x, const float* h, int64_t, float* state, float*) {
    store(atLeast(hn::Add(load(mask, x), load(mask, h)), constant(0.0F)), mask, state);
  }
};

template <typename Op>
void row(const float* x, const float* h, int64_t hidden, float* state, float* cell) {
  const FloatTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < hidden; i += lanes) {
    const Mask mask = hn::FirstN(d, static_cast<size_t>(hidden - i < lanes ? hidden - i : lanes));
    Op::apply(mask, x + i, h + i, hidden, state + i, cell ? cell + i : nullptr);
  }
}

const GateRows& functionsForTarget() {
  static const GateRows functions = {row<Lstm>, row<Gru>, row<Tanh>, row<Relu>};
  return functions;
}

}  // namespace
}  // namespace torchtrt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels {

HWY_EXPORT(functionsForTarget);

const GateRows& gateRows() {
  return HWY_DYNAMIC_DISPATCH(functionsForTarget)();
}

}  // namespace torchtrt::kernels
#endif  // HWY_ONCE
