// The parts of Dim share this: the order of atoms and terms, and overflow-checked coefficients. Only for
// src/base/dim*.cpp.
#pragma once

#include <cstddef>
#include <span>

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

Dim ofAtom(Dim::AtomKind kind, const Dim& a, const Dim& b);
// The one atom that the expression consists of, or null.
const Dim::Atom* asAtom(const Dim& dim);

}  // namespace torchtrt::dim_algebra
