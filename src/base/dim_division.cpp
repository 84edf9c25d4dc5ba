// Floor division, remainder, maximum and minimum of dimensions. Exact divisions are carried out, so that the dims of a
// reshape or of a chain of strided layers stay short and compare equal.
#include <algorithm>
#include <numeric>

#include "base/dim_algebra.h"
#include "base/saturating.h"
#include "torchtrt/error.h"

namespace torchtrt {
namespace {

using dim_algebra::asAtom;
using dim_algebra::checkedAdd;
using dim_algebra::compare;
using dim_algebra::ofAtom;
using dim_algebra::TermsOf;

void requireDivisor(const Dim& b) {
  if (b == Dim(0)) {
    throw CompileError(ErrorCode::kInvalidNetwork, "a dimension is divided by zero");
  }
}

// The term divided by the divisor, where coefficient and atoms divide.
std::optional<Dim::Term> divideTerm(const Dim::Term& term, const Dim::Term& divisor) {
  if (floorModInt(term.coefficient, divisor.coefficient) != 0) {
    return std::nullopt;
  }
  Dim::Term quotient{saturatingFloorDiv(term.coefficient, divisor.coefficient), {}};
  size_t matched = 0;
  for (const Dim::Atom& atom : term.atoms) {
    if (matched < divisor.atoms.size() && compare(atom, divisor.atoms[matched]) == 0) {
      ++matched;
    } else {
      quotient.atoms.push_back(atom);
    }
  }
  return matched == divisor.atoms.size() ? std::optional(quotient) : std::nullopt;
}

// Longer sums stay undivided: models do not have them, and the search would take seconds.
bool isShort(const Dim& sum) {
  constexpr size_t kMostTerms = 128;
  return TermsOf(sum).size() <= kMostTerms;
}

// a / b where b divides a as a polynomial.
std::optional<Dim> divideExactly(const Dim& a, const Dim& b) {
  Dim quotient = 0;
  Dim rest = a;
  // Each round removes the leading term and adds only lower ones, so this ends; the bound keeps odd inputs cheap.
  for (int round = 0; round < 32 && !(rest == Dim(0)) && isShort(rest) && isShort(b); ++round) {
    const std::optional<Dim::Term> term = divideTerm(TermsOf(rest).front(), TermsOf(b).front());
    if (!term) {
      return std::nullopt;
    }
    const Dim part = Dim::fromTerms({*term});
    quotient = quotient + part;
    rest = rest - part * b;
  }
  return rest == Dim(0) ? std::optional(quotient) : std::nullopt;
}

struct Split {
  Dim quotient;  // a = quotient * b + rest
  std::vector<Dim::Term> rest;
};

// A divisor as a number times what is left, whose terms have no common number.
struct Content {
  int64_t number;
  Dim rest;
};

Content contentOf(const Dim& b) {
  int64_t number = 0;
  for (const Dim::Term& term : b.terms()) {
    number = std::gcd(number, term.coefficient);
  }
  std::vector<Dim::Term> rest = b.terms();
  for (Dim::Term& term : rest) {
    term.coefficient = number > 1 ? term.coefficient / number : term.coefficient;
  }
  return {number, Dim::fromTerms(std::move(rest))};
}

// a / rest, where a sum `rest` times a number above 1 is the divisor and divides exactly: (q * rest) // (n * rest) is
// q // n, whatever sign `rest` has.
std::optional<Dim> divideBySum(const Dim& a, const Content& divisor) {
  return divisor.number > 1 && divisor.rest.terms().size() > 1 ? divideExactly(a, divisor.rest) : std::nullopt;
}

// Moves out what a sum divides, leading terms first, where that leaves fewer terms.
std::optional<Split> splitBySum(const Dim& a, const Dim& b) {
  Split split;
  Dim rest = a;
  for (int round = 0; round < 32 && !rest.isConstant() && isShort(rest) && isShort(b); ++round) {
    const auto& terms = rest.terms();
    std::optional<Dim::Term> part;
    for (auto term = terms.begin(); !part && term != terms.end(); ++term) {
      part = divideTerm(*term, b.terms().front());
    }
    if (!part) {
      break;
    }
    const Dim quotient = Dim::fromTerms({*part});
    split.quotient = split.quotient + quotient;
    rest = rest - quotient * b;
  }
  split.rest = TermsOf(rest).copy();
  return split.rest.size() < TermsOf(a).size() ? std::optional(split) : std::nullopt;
}

// Moves out what one term divides.
Split splitByTerm(const Dim& a, const Dim::Term& divisor) {
  Split split;
  std::vector<Dim::Term> quotient;
  for (const Dim::Term& term : TermsOf(a)) {
    if (const auto divided = divideTerm(term, divisor)) {
      quotient.push_back(*divided);
    } else {
      split.rest.push_back(term);
    }
  }
  split.quotient = Dim::fromTerms(std::move(quotient));
  return split;
}

// Division by a positive number with a = d * quotient + g * inner + low, d = g * divisor, 0 <= low < g: then
// a // d = quotient + inner // divisor and a % d = g * (inner % divisor) + low.
struct Reduced {
  Dim quotient;
  Dim inner;
  int64_t divisor;
  int64_t g;
  int64_t low;
};

Reduced reduceByNumber(const Dim& a, int64_t d) {
  std::vector<Dim::Term> quotient;
  std::vector<Dim::Term> rest;
  int64_t constant = 0;
  int64_t g = d;
  for (const Dim::Term& term : a.terms()) {
    if (term.atoms.empty()) {
      quotient.push_back({floorDivInt(term.coefficient, d), {}});
      constant = floorModInt(term.coefficient, d);
      continue;
    }
    quotient.push_back({term.coefficient / d, term.atoms});
    if (const int64_t remainder = term.coefficient % d; remainder != 0) {
      rest.push_back({remainder, term.atoms});
      g = std::gcd(g, remainder);
    }
  }
  Reduced reduced{Dim::fromTerms(std::move(quotient)), 0, d / g, g, constant % g};
  for (Dim::Term& term : rest) {
    term.coefficient /= g;
  }
  rest.push_back({constant / g, {}});
  reduced.inner = Dim::fromTerms(std::move(rest));
  return reduced;
}

// inner // divisor for a reduced inner: (x // e + c) // d = (x + c * e) // (d * e).
Dim divideReduced(const Dim& inner, int64_t divisor) {
  if (inner.isConstant()) {
    return floorDivInt(inner.constant(), divisor);
  }
  const std::vector<Dim::Term>& terms = inner.terms();
  const int64_t constant = terms.back().atoms.empty() ? terms.back().coefficient : 0;
  const Dim symbolic = inner - constant;
  const Dim::Atom* atom = asAtom(symbolic);
  if (atom != nullptr && atom->kind == Dim::AtomKind::kFloorDiv && atom->b->isConstant()) {
    const int64_t e = atom->b->constant();
    int64_t product = 0;
    if (e > 0 && !__builtin_mul_overflow(divisor, e, &product)) {  // constant < divisor, so constant * e fits as well
      return Dim::floorDiv(*atom->a + Dim(constant * e), product);
    }
  }
  return ofAtom(Dim::AtomKind::kFloorDiv, inner, divisor);
}

// Returns the term that divides every term of both: the greatest common coefficient and the common atoms.
Dim::Term commonFactor(const std::vector<Dim::Term>& terms, const Dim::Term& divisor) {
  Dim::Term common{divisor.coefficient, divisor.atoms};
  for (const Dim::Term& term : terms) {
    common.coefficient = std::gcd(common.coefficient, term.coefficient);
    std::vector<Dim::Atom> shared;
    std::set_intersection(common.atoms.begin(), common.atoms.end(), term.atoms.begin(), term.atoms.end(),
                          std::back_inserter(shared),
                          [](const Dim::Atom& x, const Dim::Atom& y) { return compare(x, y) < 0; });
    common.atoms = std::move(shared);
  }
  return common;
}

void collectOperands(Dim::AtomKind kind, const Dim& dim, std::vector<Dim>& operands) {
  const Dim::Atom* atom = asAtom(dim);
  if (atom != nullptr && atom->kind == kind) {
    collectOperands(kind, *atom->a, operands);
    collectOperands(kind, *atom->b, operands);
  } else {
    operands.push_back(dim);
  }
}

Dim extremum(Dim::AtomKind kind, const Dim& a, const Dim& b) {
  std::vector<Dim> operands;
  collectOperands(kind, a, operands);
  collectOperands(kind, b, operands);
  if (operands.size() > dim_algebra::kMostOperands) {
    throw CompileError(ErrorCode::kInvalidNetwork,
                       "a dimension is the " + std::string(kind == Dim::AtomKind::kMax ? "max" : "min") +
                           " of more than " + std::to_string(dim_algebra::kMostOperands) + " expressions",
                       {}, "use fewer symbols, or fixed sizes");
  }
  std::vector<Dim> kept;
  for (const Dim& operand : operands) {
    // Operands that differ by a number: one of them never counts.
    const auto rival = std::find_if(kept.begin(), kept.end(), [&](const Dim& k) { return (operand - k).isConstant(); });
    if (rival == kept.end()) {
      kept.push_back(operand);
    } else if (((operand - *rival).constant() > 0) == (kind == Dim::AtomKind::kMax)) {
      *rival = operand;
    }
  }
  std::sort(kept.begin(), kept.end());
  Dim result = kept.back();
  for (auto operand = kept.rbegin() + 1; operand != kept.rend(); ++operand) {
    result = ofAtom(kind, *operand, result);
  }
  return result;
}

}  // namespace

Dim Dim::floorDiv(const Dim& a, const Dim& b) {
  requireDivisor(b);
  if (b.isConstant()) {
    const int64_t d = b.constant();
    if (d < 0) {
      return floorDiv(-a, -b);
    }
    if (a.isConstant()) {
      return floorDivInt(a.constant(), d);
    }
    const Reduced reduced = reduceByNumber(a, d);
    return reduced.quotient + divideReduced(reduced.inner, reduced.divisor);
  }
  if (const auto quotient = divideExactly(a, b)) {
    return *quotient;
  }
  const Content content = contentOf(b);
  if (const auto quotient = divideBySum(a, content)) {
    return floorDiv(*quotient, content.number);
  }
  if (b.terms().size() == 1) {
    const Term& divisor = b.terms().front();
    Split split = splitByTerm(a, divisor);
    const Term common = commonFactor(split.rest, divisor);
    if (common.coefficient == 1 && common.atoms.empty()) {
      return split.quotient + ofAtom(AtomKind::kFloorDiv, fromTerms(std::move(split.rest)), b);
    }
    for (Term& term : split.rest) {
      term = *divideTerm(term, common);
    }
    return split.quotient + floorDiv(fromTerms(std::move(split.rest)), fromTerms({*divideTerm(divisor, common)}));
  }
  if (auto split = splitBySum(a, b)) {
    return split->quotient + floorDiv(fromTerms(std::move(split->rest)), b);
  }
  return ofAtom(AtomKind::kFloorDiv, a, b);
}

Dim Dim::ceilDiv(const Dim& a, const Dim& b) {
  requireDivisor(b);
  if (!b.isConstant()) {
    return -floorDiv(-a, b);
  }
  return b.constant() < 0 ? ceilDiv(-a, -b) : floorDiv(a + Dim(checkedAdd(b.constant(), -1)), b);
}

Dim Dim::mod(const Dim& a, const Dim& b) {
  requireDivisor(b);
  if (b.isConstant()) {
    const int64_t d = b.constant();
    if (d < 0) {
      return -mod(-a, -b);
    }
    if (a.isConstant()) {
      return floorModInt(a.constant(), d);
    }
    const Reduced reduced = reduceByNumber(a, d);
    const Dim remainder = reduced.inner.isConstant() ? Dim(floorModInt(reduced.inner.constant(), reduced.divisor))
                                                     : ofAtom(AtomKind::kMod, reduced.inner, reduced.divisor);
    return remainder * Dim(reduced.g) + Dim(reduced.low);
  }
  if (divideExactly(a, b)) {
    return 0;
  }
  const Content content = contentOf(b);
  if (const auto quotient = divideBySum(a, content)) {
    return mod(*quotient, content.number) * content.rest;
  }
  if (b.terms().size() == 1) {
    return ofAtom(AtomKind::kMod, fromTerms(splitByTerm(a, b.terms().front()).rest), b);
  }
  if (auto split = splitBySum(a, b)) {
    return mod(fromTerms(std::move(split->rest)), b);
  }
  return ofAtom(AtomKind::kMod, a, b);
}

Dim Dim::max(const Dim& a, const Dim& b) {
  return a.isConstant() && b.isConstant() ? Dim(std::max(a.value_, b.value_)) : extremum(AtomKind::kMax, a, b);
}

Dim Dim::min(const Dim& a, const Dim& b) {
  return a.isConstant() && b.isConstant() ? Dim(std::min(a.value_, b.value_)) : extremum(AtomKind::kMin, a, b);
}

}  // namespace torchtrt
