// The parts of Dim share this: the order of atoms and terms, and overflow-checked coefficients. Only for
// src/base/dim*.cpp.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "torchtrt/types.h"

namespace torchtrt::dim_algebra {

// Negative, 0 or positive. Numbers come after everything symbolic.
int compare(const Dim& x, const Dim& y);
int compare(const Dim::Atom& x, const Dim::Atom& y);
// Products by falling degree, then atom by atom: a monomial order, so that polynomial division ends.
int compareProducts(std::span<const Dim::Atom> x, std::span<const Dim::Atom> y);

// Throw CompileError (kInvalidNetwork) where the result has no place in 64 bits.
int64_t checkedAdd(int64_t a, int64_t b);
int64_t checkedMul(int64_t a, int64_t b);

// Expressions grow with the power of what they are made of: a text of a few hundred bytes can ask for any memory.
inline constexpr size_t kMostParts = size_t{1} << 14;
inline constexpr size_t kMostOperands = 64;  // of max() and min(), each of which is compared with each other one
// Throws CompileError (kInvalidNetwork) for more parts.
void requireParts(size_t parts);

// The terms of a dimension, which has to outlive them. Dim::terms() keeps those of each number for good; arithmetic on
// numbers of somebody else's text must not.
class TermsOf {
 public:
  explicit TermsOf(const Dim& dim) : number_{dim.asConstant().value_or(0), {}}, all_(allOf(dim)) {}
  TermsOf(const TermsOf&) = delete;
  TermsOf& operator=(const TermsOf&) = delete;

  auto begin() const {
    return all_.begin();
  }
  auto end() const {
    return all_.end();
  }
  size_t size() const {
    return all_.size();
  }
  const Dim::Term& front() const {
    return all_.front();
  }
  std::vector<Dim::Term> copy() const {
    return {begin(), end()};
  }

 private:
  std::span<const Dim::Term> allOf(const Dim& dim) const {
    return dim.isConstant() ? std::span(&number_, number_.coefficient == 0 ? 0 : 1) : std::span(dim.terms());
  }

  Dim::Term number_;
  std::span<const Dim::Term> all_;
};

Dim ofAtom(Dim::AtomKind kind, const Dim& a, const Dim& b);
// The one atom that the expression consists of, or null.
const Dim::Atom* asAtom(const Dim& dim);

}  // namespace torchtrt::dim_algebra
