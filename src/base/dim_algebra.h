// The parts of Dim share this: the order of atoms and terms, and overflow-checked coefficients. Only for
// src/base/dim*.cpp.
#pragma once

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

Dim ofAtom(Dim::AtomKind kind, const Dim& a, const Dim& b);
// The one atom that the expression consists of, or null.
const Dim::Atom* asAtom(const Dim& dim);

}  // namespace torchtrt::dim_algebra
