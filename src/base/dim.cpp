// Dimensions as polynomials over atoms: canonical form, order, addition and multiplication, values and ranges.
// Division and extrema are in dim_division.cpp, the text form in dim_text.cpp.
#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <unordered_map>

#include "base/check.h"
#include "base/dim_algebra.h"
#include "base/saturating.h"

namespace torchtrt {

struct Dim::Data {
  std::vector<Term> terms;  // canonical and not a number
  size_t parts = 0;         // terms and atoms, those of the atoms' operands among them
};

namespace dim_algebra {

int compare(const Dim::Atom& x, const Dim::Atom& y) {
  if (x.kind != y.kind) {
    return x.kind < y.kind ? -1 : 1;
  }
  if (x.kind == Dim::AtomKind::kSymbol) {
    return x.name.compare(y.name);
  }
  const int first = compare(*x.a, *y.a);
  return first != 0 ? first : compare(*x.b, *y.b);
}

int compareProducts(std::span<const Dim::Atom> x, std::span<const Dim::Atom> y) {
  if (x.size() != y.size()) {
    return x.size() > y.size() ? -1 : 1;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    if (const int order = compare(x[i], y[i]); order != 0) {
      return order;
    }
  }
  return 0;
}

int compare(const Dim& x, const Dim& y) {
  if (x.isConstant() && y.isConstant()) {
    return x.constant() < y.constant() ? -1 : static_cast<int>(x.constant() > y.constant());
  }
  if (x.isConstant() != y.isConstant()) {
    return x.isConstant() ? 1 : -1;
  }
  const std::vector<Dim::Term>& terms_x = x.terms();
  const std::vector<Dim::Term>& terms_y = y.terms();
  if (&terms_x == &terms_y) {
    return 0;
  }
  for (size_t i = 0; i < std::min(terms_x.size(), terms_y.size()); ++i) {
    if (const int order = compareProducts(terms_x[i].atoms, terms_y[i].atoms); order != 0) {
      return order;
    }
    if (terms_x[i].coefficient != terms_y[i].coefficient) {
      return terms_x[i].coefficient < terms_y[i].coefficient ? -1 : 1;
    }
  }
  return terms_x.size() == terms_y.size() ? 0 : (terms_x.size() < terms_y.size() ? -1 : 1);
}

void requireParts(size_t parts) {
  if (parts > kMostParts) {
    throw CompileError(ErrorCode::kInvalidNetwork,
                       "a dimension is an expression of more than " + std::to_string(kMostParts) + " parts", {},
                       "use fewer symbols, or fixed sizes");
  }
}

[[noreturn]] static void failOverflow() {
  throw CompileError(ErrorCode::kInvalidNetwork, "a dimension does not fit in 64 bits");
}

int64_t checkedAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    failOverflow();
  }
  return sum;
}

int64_t checkedMul(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    failOverflow();
  }
  return product;
}

Dim ofAtom(Dim::AtomKind kind, const Dim& a, const Dim& b) {
  return Dim::fromTerms({{1, {{kind, "", std::make_shared<const Dim>(a), std::make_shared<const Dim>(b)}}}});
}

const Dim::Atom* asAtom(const Dim& dim) {
  if (dim.isConstant()) {
    return nullptr;
  }
  const std::vector<Dim::Term>& terms = dim.terms();
  return terms.size() == 1 && terms[0].coefficient == 1 && terms[0].atoms.size() == 1 ? &terms[0].atoms[0] : nullptr;
}

}  // namespace dim_algebra

using dim_algebra::checkedAdd;
using dim_algebra::checkedMul;
using dim_algebra::compare;
using dim_algebra::compareProducts;
using dim_algebra::TermsOf;

namespace {

bool isSymbolName(const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !is_letter(name[0]) || name == "max" || name == "min") {
    return false;
  }
  return std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.'; });
}

// Terms of numbers, kept for good: terms() hands out references and a number holds no storage of its own. Arithmetic
// takes TermsOf.
const std::vector<Dim::Term>& termsOfConstant(int64_t value) {
  static std::mutex mutex;
  static auto* cache = new std::unordered_map<int64_t, std::vector<Dim::Term>>;
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = cache->try_emplace(value);
  if (is_new && value != 0) {
    entry->second.push_back({value, {}});
  }
  return entry->second;
}

}  // namespace

Dim::Dim(int64_t value) : value_(value) {}

Dim Dim::symbol(const std::string& name) {
  if (!isSymbolName(name)) {
    throw CompileError(ErrorCode::kInvalidInputSpec, "\"" + name + "\" is no name for a dimension", {},
                       "use letters, digits, '_' and '.', starting with a letter or '_', but not \"max\" or \"min\"");
  }
  return fromTerms({{1, {{AtomKind::kSymbol, name, nullptr, nullptr}}}});
}

Dim Dim::fromTerms(std::vector<Term> terms) {
  for (Term& term : terms) {
    std::sort(term.atoms.begin(), term.atoms.end(), [](const Atom& x, const Atom& y) { return compare(x, y) < 0; });
  }
  std::sort(terms.begin(), terms.end(),
            [](const Term& x, const Term& y) { return compareProducts(x.atoms, y.atoms) < 0; });
  std::vector<Term> merged;
  for (Term& term : terms) {
    if (!merged.empty() && compareProducts(merged.back().atoms, term.atoms) == 0) {
      merged.back().coefficient = checkedAdd(merged.back().coefficient, term.coefficient);
    } else {
      merged.push_back(std::move(term));
    }
  }
  std::erase_if(merged, [](const Term& term) { return term.coefficient == 0; });
  if (merged.empty()) {
    return 0;
  }
  if (merged.size() == 1 && merged[0].atoms.empty()) {
    return merged[0].coefficient;
  }
  const auto parts_of = [](const Dim& dim) { return dim.isConstant() ? 1 : dim.data_->parts; };
  size_t parts = merged.size();
  for (const Term& term : merged) {
    for (const Atom& atom : term.atoms) {
      parts += atom.kind == AtomKind::kSymbol ? 1 : 1 + parts_of(*atom.a) + parts_of(*atom.b);
    }
  }
  dim_algebra::requireParts(parts);
  Dim dim;
  dim.data_ = std::make_shared<const Data>(Data{std::move(merged), parts});
  return dim;
}

bool Dim::isConstant() const {
  return data_ == nullptr;
}

int64_t Dim::constant() const {
  TORCHTRT_CHECK(isConstant(), "dimension " << toString() << " is symbolic where a number is needed");
  return value_;
}

std::optional<int64_t> Dim::asConstant() const {
  return isConstant() ? std::optional(value_) : std::nullopt;
}

bool Dim::isSymbol() const {
  const Atom* atom = dim_algebra::asAtom(*this);
  return atom != nullptr && atom->kind == AtomKind::kSymbol;
}

std::string Dim::symbolName() const {
  TORCHTRT_CHECK(isSymbol(), "dimension " << toString() << " is not a symbol");
  return dim_algebra::asAtom(*this)->name;
}

const std::vector<Dim::Term>& Dim::terms() const {
  return isConstant() ? termsOfConstant(value_) : data_->terms;
}

Dim operator+(const Dim& a, const Dim& b) {
  if (a.isConstant() && b.isConstant()) {
    return checkedAdd(a.value_, b.value_);
  }
  std::vector<Dim::Term> terms = TermsOf(a).copy();
  const TermsOf more(b);
  terms.insert(terms.end(), more.begin(), more.end());
  return Dim::fromTerms(std::move(terms));
}

Dim operator-(const Dim& a, const Dim& b) {
  return a + -b;
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.isConstant() && b.isConstant()) {
    return checkedMul(a.value_, b.value_);
  }
  if (a == Dim(1) || b == Dim(1)) {
    return a == Dim(1) ? b : a;
  }
  const TermsOf terms_a(a);
  const TermsOf terms_b(b);
  dim_algebra::requireParts(terms_a.size() * terms_b.size());
  std::vector<Dim::Term> terms;
  for (const Dim::Term& x : terms_a) {
    for (const Dim::Term& y : terms_b) {
      Dim::Term product{checkedMul(x.coefficient, y.coefficient), x.atoms};
      product.atoms.insert(product.atoms.end(), y.atoms.begin(), y.atoms.end());
      terms.push_back(std::move(product));
    }
  }
  return Dim::fromTerms(std::move(terms));
}

Dim Dim::operator-() const {
  return *this * Dim(-1);
}

bool Dim::operator==(const Dim& other) const {
  return compare(*this, other) == 0;
}

bool Dim::operator<(const Dim& other) const {
  return compare(*this, other) < 0;
}

namespace {

[[noreturn]] void failEvaluation(const Dim& dim, const char* why) {
  throw EngineError(ErrorCode::kShapeArithmetic,
                    "dimension " + dim.toString() + " has no value for these inputs: " + why);
}

int64_t evaluateAtom(const Dim& whole, const Dim::Atom& atom,
                     const std::function<int64_t(const std::string&)>& value_of) {
  if (atom.kind == Dim::AtomKind::kSymbol) {
    return value_of(atom.name);
  }
  const int64_t a = atom.a->evaluate(value_of);
  const int64_t b = atom.b->evaluate(value_of);
  switch (atom.kind) {
    case Dim::AtomKind::kMax:
      return std::max(a, b);
    case Dim::AtomKind::kMin:
      return std::min(a, b);
    default:
      break;
  }
  if (b == 0) {
    failEvaluation(whole, "division by zero");
  }
  return atom.kind == Dim::AtomKind::kMod ? floorModInt(a, b) : saturatingFloorDiv(a, b);
}

// Closed intervals of integers, clamped to int64.
struct Interval {
  int64_t low;
  int64_t high;
};

template <typename Operation>
Interval ofCorners(Interval a, Interval b, Operation operation) {
  const std::array<int64_t, 4> corners = {operation(a.low, b.low), operation(a.low, b.high), operation(a.high, b.low),
                                          operation(a.high, b.high)};
  const auto [low, high] = std::minmax_element(corners.begin(), corners.end());
  return {*low, *high};
}

Interval floorDivInterval(Interval a, Interval b) {
  if (b.low >= 0 && b.high >= 1) {
    b.low = std::max<int64_t>(b.low, 1);  // 0 has no quotient
  }
  if (b.low >= 1 || b.high <= -1) {
    return ofCorners(a, b, saturatingFloorDiv);
  }
  const int64_t magnitude =
      std::max(saturatingMul(a.low, -1), std::max(saturatingMul(a.high, -1), std::max(a.low, a.high)));
  return {-magnitude, magnitude};
}

Interval modInterval(Interval a, Interval b) {
  if (b.low == b.high && b.low >= 1 && floorDivInt(a.low, b.low) == floorDivInt(a.high, b.low)) {
    return {floorModInt(a.low, b.low), floorModInt(a.high, b.low)};
  }
  return {std::min<int64_t>(0, saturatingAdd(b.low, 1)), std::max<int64_t>(0, saturatingAdd(b.high, -1))};
}

Interval rangeOf(const Dim& dim, const std::function<Symbol(const std::string&)>& symbol_of);

Interval rangeOf(const Dim::Atom& atom, const std::function<Symbol(const std::string&)>& symbol_of) {
  if (atom.kind == Dim::AtomKind::kSymbol) {
    const Symbol symbol = symbol_of(atom.name);
    return {symbol.min, symbol.max};
  }
  const Interval a = rangeOf(*atom.a, symbol_of);
  const Interval b = rangeOf(*atom.b, symbol_of);
  switch (atom.kind) {
    case Dim::AtomKind::kFloorDiv:
      return floorDivInterval(a, b);
    case Dim::AtomKind::kMod:
      return modInterval(a, b);
    case Dim::AtomKind::kMax:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    default:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
  }
}

Interval rangeOf(const Dim& dim, const std::function<Symbol(const std::string&)>& symbol_of) {
  if (dim.isConstant()) {
    return {dim.constant(), dim.constant()};
  }
  Interval sum{0, 0};
  for (const Dim::Term& term : dim.terms()) {
    Interval product{term.coefficient, term.coefficient};
    for (const Dim::Atom& atom : term.atoms) {
      product = ofCorners(product, rangeOf(atom, symbol_of), saturatingMul);
    }
    sum = {saturatingAdd(sum.low, product.low), saturatingAdd(sum.high, product.high)};
  }
  return sum;
}

void collectSymbols(const Dim& dim, std::set<std::string>& names) {
  if (dim.isConstant()) {
    return;
  }
  for (const Dim::Term& term : dim.terms()) {
    for (const Dim::Atom& atom : term.atoms) {
      if (atom.kind == Dim::AtomKind::kSymbol) {
        names.insert(atom.name);
      } else {
        collectSymbols(*atom.a, names);
        collectSymbols(*atom.b, names);
      }
    }
  }
}

}  // namespace

int64_t Dim::evaluate(const std::function<int64_t(const std::string&)>& value_of) const {
  if (isConstant()) {
    return value_;
  }
  int64_t sum = 0;
  for (const Term& term : terms()) {
    int64_t product = term.coefficient;
    bool overflows = false;
    for (const Atom& atom : term.atoms) {
      overflows |= __builtin_mul_overflow(product, evaluateAtom(*this, atom, value_of), &product);
    }
    overflows |= __builtin_add_overflow(sum, product, &sum);
    if (overflows) {
      failEvaluation(*this, "it does not fit in 64 bits");
    }
  }
  return sum;
}

std::pair<int64_t, int64_t> Dim::range(const std::function<Symbol(const std::string&)>& symbol_of) const {
  const Interval interval = rangeOf(*this, symbol_of);
  return {interval.low, interval.high};
}

std::vector<std::string> Dim::symbols() const {
  std::set<std::string> names;
  collectSymbols(*this, names);
  return {names.begin(), names.end()};
}

}  // namespace torchtrt
