#include "cpu/pointwise/expression/tile_machine.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pointwise/expression/tile_machine.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <type_traits>

#include "cpu/simd/half-inl.h"
#include "cpu/simd/math-inl.h"

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

template <typename Format, typename V>
HWY_INLINE V widened(const uint16_t* tile, size_t i) {
  return Format::widen(tile + i * hn::Lanes(hn::DFromV<V>()));
}

// The same with m of 16 bits.
template <typename Op, typename Format, typename V>
void binaryWidened(const Instruction* at, int64_t place, V v0, V v1, V v2, V v3, V v4, V v5, V v6, V v7) {
  const auto* m = reinterpret_cast<const uint16_t*>(at->operand + place * at->step);
  jump<V>(at + 1, place, Op::apply(v0, widened<Format, V>(m, 0)), Op::apply(v1, widened<Format, V>(m, 1)),
          Op::apply(v2, widened<Format, V>(m, 2)), Op::apply(v3, widened<Format, V>(m, 3)),
          Op::apply(v4, widened<Format, V>(m, 4)), Op::apply(v5, widened<Format, V>(m, 5)),
          Op::apply(v6, widened<Format, V>(m, 6)), Op::apply(v7, widened<Format, V>(m, 7)));
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

template <typename Format, typename V>
void storeNarrowed(const Instruction* at, int64_t place, V v0, V v1, V v2, V v3, V v4, V v5, V v6, V v7) {
  const size_t lanes = hn::Lanes(hn::DFromV<V>());
  auto* m = reinterpret_cast<uint16_t*>(at->operand + place * at->step);
  Format::narrow(v0, m);
  Format::narrow(v1, m + lanes);
  Format::narrow(v2, m + 2 * lanes);
  Format::narrow(v3, m + 3 * lanes);
  Format::narrow(v4, m + 4 * lanes);
  Format::narrow(v5, m + 5 * lanes);
  Format::narrow(v6, m + 6 * lanes);
  Format::narrow(v7, m + 7 * lanes);
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

template <typename V>
inline constexpr bool kIsFloat = std::is_same_v<Element<V>, float>;

template <typename Op, typename V>
Function<V> binaryOf(Stored stored) {
  if constexpr (kIsFloat<V>) {
    if (stored == Stored::kFloat16 || stored == Stored::kBFloat16) {
      return stored == Stored::kFloat16 ? binaryWidened<Op, kernels::HWY_NAMESPACE::Half, V>
                                        : binaryWidened<Op, kernels::HWY_NAMESPACE::Brain, V>;
    }
  }
  return stored == Stored::kRepeated ? binaryRepeated<Op, V> : binary<Op, V>;
}

template <typename V>
Function<V> storeOf(Stored stored) {
  if constexpr (kIsFloat<V>) {
    if (stored == Stored::kFloat16 || stored == Stored::kBFloat16) {
      return stored == Stored::kFloat16 ? storeNarrowed<kernels::HWY_NAMESPACE::Half, V>
                                        : storeNarrowed<kernels::HWY_NAMESPACE::Brain, V>;
    }
  }
  return store<V>;
}

template <typename V>
Function<V> functionOf(Code code, Stored stored) {
  switch (code) {
    case Code::kLoad:
      return binaryOf<Load, V>(stored);
    case Code::kStore:
      return storeOf<V>(stored);
    case Code::kSum:
      return binaryOf<Sum, V>(stored);
    case Code::kProd:
      return binaryOf<Prod, V>(stored);
    case Code::kSub:
      return binaryOf<Sub, V>(stored);
    case Code::kSubFrom:
      return binaryOf<SubFrom, V>(stored);
    case Code::kDiv:
      return binaryOf<Div, V>(stored);
    case Code::kDivInto:
      return binaryOf<DivInto, V>(stored);
    case Code::kMax:
      return binaryOf<Max, V>(stored);
    case Code::kMaxOf:
      return binaryOf<MaxOf, V>(stored);
    case Code::kMin:
      return binaryOf<Min, V>(stored);
    case Code::kMinOf:
      return binaryOf<MinOf, V>(stored);
    case Code::kAtLeast:
      return binaryOf<AtLeast, V>(stored);
    case Code::kAtMost:
      return binaryOf<AtMost, V>(stored);
    case Code::kLess:
      return binaryOf<Less, V>(stored);
    case Code::kLessEqual:
      return binaryOf<LessEqual, V>(stored);
    case Code::kGreater:
      return binaryOf<Greater, V>(stored);
    case Code::kGreaterEqual:
      return binaryOf<GreaterEqual, V>(stored);
    case Code::kEqual:
      return binaryOf<Equal, V>(stored);
    case Code::kNotEqual:
      return binaryOf<NotEqual, V>(stored);
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
void (*find(Code code, Stored stored))() {
  return reinterpret_cast<void (*)()>(functionOf<VectorOf<T>>(code, stored));
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

static_assert(HWY_MAX_BYTES <= 64, "tiles in memory (in_registers.cpp) have room for vectors of 64 bytes");

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
