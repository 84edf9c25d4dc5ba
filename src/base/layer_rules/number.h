// Dims that are known: integers which cannot overflow, with the interface of Dim, and lists of them with that of Dims.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "torchtrt/types.h"

namespace torchtrt::layer_rules {

// 128 bits: a product of two int64 fits. A larger number is clamped, and is no dim of any tensor.
class Number {
 public:
  Number() = default;
  Number(int64_t value) : value_(value) {}  // NOLINT(google-explicit-constructor): as Dim's

  // The divisor is above 0.
  static Number floorDiv(const Number& a, const Number& b) {
    const Wide quotient = a.value_ / b.value_;
    return of(quotient - (a.value_ % b.value_ < 0 ? 1 : 0));
  }
  static Number mod(const Number& a, const Number& b) {
    const Wide remainder = a.value_ % b.value_;
    return of(remainder < 0 ? remainder + b.value_ : remainder);
  }
  static Number min(const Number& a, const Number& b) {
    return std::min(a, b);
  }

  friend Number operator+(const Number& a, const Number& b) {
    Wide sum = 0;
    return of(__builtin_add_overflow(a.value_, b.value_, &sum) ? (b.value_ < 0 ? kLeast : kMost) : sum);
  }
  friend Number operator-(const Number& a, const Number& b) {
    Wide difference = 0;
    return of(__builtin_sub_overflow(a.value_, b.value_, &difference) ? (b.value_ < 0 ? kMost : kLeast) : difference);
  }
  friend Number operator*(const Number& a, const Number& b) {
    Wide product = 0;
    const bool overflows = __builtin_mul_overflow(a.value_, b.value_, &product);
    return of(overflows ? ((a.value_ < 0) != (b.value_ < 0) ? kLeast : kMost) : product);
  }
  friend bool operator==(const Number& a, const Number& b) = default;
  friend std::strong_ordering operator<=>(const Number& a, const Number& b) {
    return a.value_ <=> b.value_;
  }

  // Returns the number in int64, whose ends stand for all numbers behind them.
  int64_t clamped() const {
    return static_cast<int64_t>(std::clamp<Wide>(value_, kInt64Min, kInt64Max));
  }
  std::string toString() const {
    return std::to_string(clamped());
  }

 private:
  using Wide = __int128;
  static constexpr Wide kMost = ~(Wide{1} << 127), kLeast = Wide{1} << 127;

  static Number of(Wide value) {
    Number result;
    result.value_ = value;
    return result;
  }

  Wide value_ = 0;
};

class Numbers {
 public:
  Numbers() = default;
  Numbers(std::initializer_list<Number> numbers) : numbers_(numbers) {}
  explicit Numbers(std::vector<Number> numbers) : numbers_(std::move(numbers)) {}

  int rank() const {
    return static_cast<int>(numbers_.size());
  }
  const Number& operator[](int i) const {
    return numbers_[static_cast<size_t>(i)];
  }
  Number& operator[](int i) {
    return numbers_[static_cast<size_t>(i)];
  }
  auto begin() const {
    return numbers_.begin();
  }
  auto end() const {
    return numbers_.end();
  }
  const std::vector<Number>& vec() const {
    return numbers_;
  }
  Number numel() const {
    Number product = 1;
    for (const Number& each : numbers_) {
      product = product * each;
    }
    return product;
  }
  bool operator==(const Numbers& other) const = default;
  std::string toString() const {
    std::string text = "[";
    for (const Number& each : numbers_) {
      text += (text.size() == 1 ? "" : ", ") + each.toString();
    }
    return text + "]";
  }

 private:
  std::vector<Number> numbers_;
};

struct NumbersType {
  DType dtype = DType::kFloat32;
  Numbers dims;
  bool operator==(const NumbersType&) const = default;
};

}  // namespace torchtrt::layer_rules
