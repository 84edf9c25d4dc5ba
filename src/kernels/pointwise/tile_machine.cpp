#include "kernels/pointwise/tile_machine.h"

#include "kernels/common/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pointwise/tile_machine.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/common/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::pointwise::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
namespace math = kernels::HWY_NAMESPACE;

template <typename V>
using Function = void (*)(const Instruction* at, int64_t place, V v0, V v1, V v2, V v3, V v4, V v5, V v6, V v7);

template <typename V>
using Element = hn::TFromD<hn::DFromV<V>>;

template <typename V>
HWY_INLINE void jump(const Instruction* to, int64_t place, V v0, V v1, V v2, V v3, V v4, V v5, V v6, V v7) {
  reinterpret_cast<Function<V>>(to->function)(to, place, v0, v1, v2, v3, v4, v5, v6, v7);
}

template <typename V>
HWY_INLINE Element<V>* operandOf(const Instruction* at, int64_t place) {
  return reinterpret_cast<Element<V>*>(at->operand + place * at->step);
}

template <typename V>
HWY_INLINE V vectorOf(const Element<V>* tile, size_t i) {
  const hn::DFromV<V> d;
  return hn::LoadU(d, tile + i * hn::Lanes(d));
}

template <typename Op, typename V>
void unary(const Instruction* at, int64_t place, V v0, V v1, V v2, V v3, V v4, V v5, V v6, V v7) {
  jump<V>(at + 1, place, Op::apply(v0), Op::apply(v1), Op::apply(v2), Op::apply(v3), Op::apply(v4), Op::apply(v5),
          Op::apply(v6), Op::apply(v7));
}

template <typename Op, typename V>
void binary(const Instruction* at, int64_t place, V v0, V v1, V v2, V v3, V v4, V v5, V v6, V v7) {
  const Element<V>* m = operandOf<V>(at, place);
  jump<V>(at + 1, place, Op::apply(v0, vectorOf<V>(m, 0)), Op::apply(v1, vectorOf<V>(m, 1)),
          Op::apply(v2, vectorOf<V>(m, 2)), Op::apply(v3, vectorOf<V>(m, 3)), Op::apply(v4, vectorOf<V>(m, 4)),
          Op::apply(v5, vectorOf<V>(m, 5)), Op::apply(v6, vectorOf<V>(m, 6)), Op::apply(v7, vectorOf<V>(m, 7)));
}

// The same with m read once.
template <typename Op, typename V>
void binaryRepeated(const Instruction* at, int64_t place, V v0, V v1, V v2, V v3, V v4, V v5, V v6, V v7) {
  const V m = vectorOf<V>(operandOf<V>(at, place), 0);
  jump<V>(at + 1, place, Op::apply(v0, m), Op::apply(v1, m), Op::apply(v2, m), Op::apply(v3, m), Op::apply(v4, m),
          Op::apply(v5, m), Op::apply(v6, m), Op::apply(v7, m));
}

template <bool kElse, typename V>
HWY_INLINE V chosen(V x, const Element<V>* mask, const Element<V>* other, size_t i) {
  const auto where = hn::MaskFromVec(vectorOf<V>(mask, i));
  const V y = vectorOf<V>(other, i);
  return kElse ? hn::IfThenElse(where, y, x) : hn::IfThenElse(where, x, y);
}

template <bool kElse, typename V>
void choose(const Instruction* at, int64_t place, V v0, V v1, V v2, V v3, V v4, V v5, V v6, V v7) {
  const Element<V>* m = operandOf<V>(at, place);
  const Element<V>* o = operandOf<V>(at + 1, place);
  jump<V>(at + 2, place, chosen<kElse>(v0, m, o, 0), chosen<kElse>(v1, m, o, 1), chosen<kElse>(v2, m, o, 2),
          chosen<kElse>(v3, m, o, 3), chosen<kElse>(v4, m, o, 4), chosen<kElse>(v5, m, o, 5),
          chosen<kElse>(v6, m, o, 6), chosen<kElse>(v7, m, o, 7));
}

template <typename V>
void store(const Instruction* at, int64_t place, V v0, V v1, V v2, V v3, V v4, V v5, V v6, V v7) {
  const hn::DFromV<V> d;
  const size_t lanes = hn::Lanes(d);
  Element<V>* m = operandOf<V>(at, place);
  hn::StoreU(v0, d, m);
  hn::StoreU(v1, d, m + lanes);
  hn::StoreU(v2, d, m + 2 * lanes);
  hn::StoreU(v3, d, m + 3 * lanes);
  hn::StoreU(v4, d, m + 4 * lanes);
  hn::StoreU(v5, d, m + 5 * lanes);
  hn::StoreU(v6, d, m + 6 * lanes);
  hn::StoreU(v7, d, m + 7 * lanes);
  jump<V>(at + 1, place, v0, v1, v2, v3, v4, v5, v6, v7);
}

template <typename V>
void end(const Instruction*, int64_t, V, V, V, V, V, V, V, V) {}

// One functor per code. Values equal those of pointwise/rows.cpp.
#define TORCHTRT_BINARY(NAME, RESULT)     \
  struct NAME {                           \
    template <typename V>                 \
    static HWY_INLINE V apply(V x, V m) { \
      return RESULT;                      \
    }                                     \
  }
TORCHTRT_BINARY(Load, (static_cast<void>(x), m));
TORCHTRT_BINARY(Sum, hn::Add(x, m));
TORCHTRT_BINARY(Prod, hn::Mul(x, m));
TORCHTRT_BINARY(Sub, hn::Sub(x, m));
TORCHTRT_BINARY(SubFrom, hn::Sub(m, x));
TORCHTRT_BINARY(Div, hn::Div(x, m));
TORCHTRT_BINARY(DivInto, hn::Div(m, x));
TORCHTRT_BINARY(Max, math::greater(m, x));
TORCHTRT_BINARY(MaxOf, math::greater(x, m));
TORCHTRT_BINARY(Min, math::lesser(m, x));
TORCHTRT_BINARY(MinOf, math::lesser(x, m));
TORCHTRT_BINARY(AtLeast, math::atLeast(x, m));
TORCHTRT_BINARY(AtMost, math::atMost(x, m));
TORCHTRT_BINARY(Less, hn::VecFromMask(hn::DFromV<V>(), hn::Lt(x, m)));
TORCHTRT_BINARY(LessEqual, hn::VecFromMask(hn::DFromV<V>(), hn::Le(x, m)));
TORCHTRT_BINARY(Greater, hn::VecFromMask(hn::DFromV<V>(), hn::Gt(x, m)));
TORCHTRT_BINARY(GreaterEqual, hn::VecFromMask(hn::DFromV<V>(), hn::Ge(x, m)));
TORCHTRT_BINARY(Equal, hn::VecFromMask(hn::DFromV<V>(), hn::Eq(x, m)));
TORCHTRT_BINARY(NotEqual, hn::VecFromMask(hn::DFromV<V>(), hn::Not(hn::Eq(x, m))));
#undef TORCHTRT_BINARY

#define TORCHTRT_UNARY(NAME, RESULT) \
  struct NAME {                      \
    template <typename V>            \
    static HWY_INLINE V apply(V x) { \
      return RESULT;                 \
    }                                \
  }
TORCHTRT_UNARY(Abs, hn::Abs(x));
TORCHTRT_UNARY(Neg, hn::Neg(x));
TORCHTRT_UNARY(Square, hn::Mul(x, x));
TORCHTRT_UNARY(Sqrt, hn::Sqrt(x));
TORCHTRT_UNARY(Reciprocal, hn::Div(hn::Set(hn::DFromV<V>(), 1), x));
TORCHTRT_UNARY(Rsqrt, hn::Div(hn::Set(hn::DFromV<V>(), 1), hn::Sqrt(x)));
#undef TORCHTRT_UNARY

template <typename Op, typename V>
Function<V> binaryOf(bool repeats) {
  return repeats ? binaryRepeated<Op, V> : binary<Op, V>;
}

template <typename V>
Function<V> functionOf(Code code, bool repeats) {
  switch (code) {
    case Code::kLoad:
      return binaryOf<Load, V>(repeats);
    case Code::kStore:
      return store<V>;
    case Code::kSum:
      return binaryOf<Sum, V>(repeats);
    case Code::kProd:
      return binaryOf<Prod, V>(repeats);
    case Code::kSub:
      return binaryOf<Sub, V>(repeats);
    case Code::kSubFrom:
      return binaryOf<SubFrom, V>(repeats);
    case Code::kDiv:
      return binaryOf<Div, V>(repeats);
    case Code::kDivInto:
      return binaryOf<DivInto, V>(repeats);
    case Code::kMax:
      return binaryOf<Max, V>(repeats);
    case Code::kMaxOf:
      return binaryOf<MaxOf, V>(repeats);
    case Code::kMin:
      return binaryOf<Min, V>(repeats);
    case Code::kMinOf:
      return binaryOf<MinOf, V>(repeats);
    case Code::kAtLeast:
      return binaryOf<AtLeast, V>(repeats);
    case Code::kAtMost:
      return binaryOf<AtMost, V>(repeats);
    case Code::kLess:
      return binaryOf<Less, V>(repeats);
    case Code::kLessEqual:
      return binaryOf<LessEqual, V>(repeats);
    case Code::kGreater:
      return binaryOf<Greater, V>(repeats);
    case Code::kGreaterEqual:
      return binaryOf<GreaterEqual, V>(repeats);
    case Code::kEqual:
      return binaryOf<Equal, V>(repeats);
    case Code::kNotEqual:
      return binaryOf<NotEqual, V>(repeats);
    case Code::kChoose:
      return choose<false, V>;
    case Code::kChooseElse:
      return choose<true, V>;
    case Code::kAbs:
      return unary<Abs, V>;
    case Code::kNeg:
      return unary<Neg, V>;
    case Code::kSquare:
      return unary<Square, V>;
    case Code::kSqrt:
      return unary<Sqrt, V>;
    case Code::kReciprocal:
      return unary<Reciprocal, V>;
    case Code::kRsqrt:
      return unary<Rsqrt, V>;
    case Code::kEnd:
      break;
  }
  return end<V>;
}

template <typename T>
using VectorOf = hn::Vec<hn::ScalableTag<T>>;

template <typename T>
void (*find(Code code, bool repeats))() {
  return reinterpret_cast<void (*)()>(functionOf<VectorOf<T>>(code, repeats));
}

template <typename T>
void run(const Instruction* first, int64_t begin, int64_t end) {
  const hn::ScalableTag<T> d;
  const auto zero = hn::Zero(d);
  const auto tile = static_cast<int64_t>(hn::Lanes(d)) * kVectors;
  for (int64_t place = begin; place < end; place += tile) {
    jump<VectorOf<T>>(first, place, zero, zero, zero, zero, zero, zero, zero, zero);
  }
}

template <typename T>
Machine machine() {
  return {find<T>, run<T>, static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>())) * kVectors};
}
Machine floatMachine() {
  return machine<float>();
}
Machine doubleMachine() {
  return machine<double>();
}

}  // namespace
}  // namespace torchtrt::kernels::pointwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::pointwise {

HWY_EXPORT(floatMachine);
HWY_EXPORT(doubleMachine);

template <>
Machine tileMachine<float>() {
  return HWY_DYNAMIC_DISPATCH(floatMachine)();
}
template <>
Machine tileMachine<double>() {
  return HWY_DYNAMIC_DISPATCH(doubleMachine)();
}

}  // namespace torchtrt::kernels::pointwise
#endif  // HWY_ONCE
