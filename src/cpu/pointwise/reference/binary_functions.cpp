#include <cmath>
#include <type_traits>

#include "cpu/pointwise/reference/functions.h"
#include "kernels/scalar/integer_math.h"

namespace torchtrt::kernels {
namespace {

template <typename T, auto Function>
void map(T* a, const T* b, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    a[i] = Function(a[i], b[i]);
  }
}

template <typename T>
struct Entry {
  std::string_view name;
  BinaryOp<T> function;
};

// The remainder with the sign of the divisor, as Python's.
template <typename T>
T floatingModulo(T a, T b) {
  const T remainder = std::fmod(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

// Python's //: from the exact remainder, so that the quotient is not rounded up to the next integer.
template <typename T>
T floatingFloorDivide(T a, T b) {
  if (b == 0) {
    return a / b;
  }
  const T remainder = std::fmod(a, b);
  T quotient = (a - remainder) / b;
  if (remainder != 0 && (b < 0) != (remainder < 0)) {
    quotient -= 1;
  }
  if (quotient == 0) {
    return std::copysign(T(0), a / b);
  }
  const T floored = std::floor(quotient);
  return quotient - floored > T(0.5) ? floored + 1 : floored;
}

// Comparisons with NaN are false, so the first test lets a NaN of either side through.
template <typename T>
T maximum(T a, T b) {
  return a != a || b < a ? a : b;
}

template <typename T>
T minimum(T a, T b) {
  return a != a || a < b ? a : b;
}

template <typename T>
constexpr Entry<T> kCommon[] = {
    {"max", map<T, [](T a, T b) { return maximum(a, b); }>},
    {"min", map<T, [](T a, T b) { return minimum(a, b); }>},
    {"and", map<T, [](T a, T b) { return T(a != 0 && b != 0); }>},
    {"or", map<T, [](T a, T b) { return T(a != 0 || b != 0); }>},
    {"xor", map<T, [](T a, T b) { return T((a != 0) != (b != 0)); }>},
    {"equal", map<T, [](T a, T b) { return T(a == b); }>},
    {"not_equal", map<T, [](T a, T b) { return T(a != b); }>},
    {"less", map<T, [](T a, T b) { return T(a < b); }>},
    {"less_equal", map<T, [](T a, T b) { return T(a <= b); }>},
    {"greater", map<T, [](T a, T b) { return T(b < a); }>},
    {"greater_equal", map<T, [](T a, T b) { return T(b <= a); }>},
};

template <typename T>
constexpr Entry<T> kFloating[] = {
    {"sum", map<T, [](T a, T b) { return a + b; }>},
    {"sub", map<T, [](T a, T b) { return a - b; }>},
    {"prod", map<T, [](T a, T b) { return a * b; }>},
    {"div", map<T, [](T a, T b) { return a / b; }>},
    {"floor_div", map<T, [](T a, T b) { return floatingFloorDivide(a, b); }>},
    {"trunc_div", map<T, [](T a, T b) { return std::trunc(a / b); }>},
    {"mod", map<T, [](T a, T b) { return floatingModulo(a, b); }>},
    {"fmod", map<T, [](T a, T b) { return std::fmod(a, b); }>},
    {"pow", map<T, [](T a, T b) { return std::pow(a, b); }>},
    {"atan2", map<T, [](T a, T b) { return std::atan2(a, b); }>},
};

using I = int64_t;
constexpr Entry<I> kInteger[] = {
    {"sum", map<I, [](I a, I b) { return wrapAdd(a, b); }>},
    {"sub", map<I, [](I a, I b) { return wrapSub(a, b); }>},
    {"prod", map<I, [](I a, I b) { return wrapMul(a, b); }>},
    {"floor_div", map<I, [](I a, I b) { return floorDivide(a, b); }>},
    {"trunc_div", map<I, [](I a, I b) { return truncatedDivide(a, b); }>},
    {"mod", map<I, [](I a, I b) { return floorModulo(a, b); }>},
    {"fmod", map<I, [](I a, I b) { return truncatedModulo(a, b); }>},
    {"pow", map<I, [](I a, I b) { return integerPower(a, b); }>},
    {"bitwise_and", map<I, [](I a, I b) { return a & b; }>},
    {"bitwise_or", map<I, [](I a, I b) { return a | b; }>},
    {"bitwise_xor", map<I, [](I a, I b) { return a ^ b; }>},
};

template <typename T, typename Table>
BinaryOp<T> findIn(const Table& table, std::string_view op) {
  for (const Entry<T>& entry : table) {
    if (entry.name == op) {
      return entry.function;
    }
  }
  return nullptr;
}

}  // namespace

template <typename T>
BinaryOp<T> findBinary(std::string_view op) {
  if (const BinaryOp<T> common = findIn<T>(kCommon<T>, op)) {
    return common;
  }
  if constexpr (std::is_integral_v<T>) {
    return findIn<T>(kInteger, op);
  } else {
    return findIn<T>(kFloating<T>, op);
  }
}

template BinaryOp<float> findBinary<float>(std::string_view op);
template BinaryOp<double> findBinary<double>(std::string_view op);
template BinaryOp<int64_t> findBinary<int64_t>(std::string_view op);

}  // namespace torchtrt::kernels
