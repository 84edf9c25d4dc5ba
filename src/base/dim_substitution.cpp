#include "base/dim_substitution.h"

namespace torchtrt {

namespace {

Dim substitute(const Dim::Atom& atom, const Substitution& of) {
  if (atom.kind == Dim::AtomKind::kSymbol) {
    return of(atom.name).value_or(Dim::symbol(atom.name));
  }
  const Dim a = substitute(*atom.a, of);
  const Dim b = substitute(*atom.b, of);
  switch (atom.kind) {
    case Dim::AtomKind::kFloorDiv:
      return Dim::floorDiv(a, b);
    case Dim::AtomKind::kMod:
      return Dim::mod(a, b);
    case Dim::AtomKind::kMax:
      return Dim::max(a, b);
    default:
      return Dim::min(a, b);
  }
}

}  // namespace

Dim substitute(const Dim& dim, const Substitution& of) {
  if (dim.isConstant()) {
    return dim;
  }
  Dim sum = 0;
  for (const Dim::Term& term : dim.terms()) {
    Dim product = term.coefficient;
    for (const Dim::Atom& atom : term.atoms) {
      product = product * substitute(atom, of);
    }
    sum = sum + product;
  }
  return sum;
}

Dims substitute(const Dims& dims, const Substitution& of) {
  std::vector<Dim> result;
  for (const Dim& dim : dims) {
    result.push_back(substitute(dim, of));
  }
  return Dims(std::move(result));
}

}  // namespace torchtrt
