// Text form of dimensions: Python's expression syntax with + - * // % max() min().
#include <charconv>

#include "base/check.h"
#include "base/dim_algebra.h"
#include "torchtrt/error.h"
#include "torchtrt/types.h"

namespace torchtrt {
namespace {

std::string atomText(const Dim::Atom& atom) {
  // An operand of // or % is bare where it is a number, a name or a call.
  const auto operand = [](const Dim& dim) {
    const Dim::Atom* alone = dim_algebra::asAtom(dim);
    const bool divides =
        alone != nullptr && (alone->kind == Dim::AtomKind::kFloorDiv || alone->kind == Dim::AtomKind::kMod);
    const bool bare = alone != nullptr ? !divides : dim.isConstant() && dim.constant() >= 0;
    return bare ? dim.toString() : "(" + dim.toString() + ")";
  };
  switch (atom.kind) {
    case Dim::AtomKind::kSymbol:
      return atom.name;
    case Dim::AtomKind::kFloorDiv:
      return operand(*atom.a) + "//" + operand(*atom.b);
    case Dim::AtomKind::kMod:
      return operand(*atom.a) + "%" + operand(*atom.b);
    default:
      return (atom.kind == Dim::AtomKind::kMax ? "max(" : "min(") + atom.a->toString() + "," + atom.b->toString() + ")";
  }
}

// Returns the text without the sign.
std::string termText(const Dim::Term& term) {
  std::string magnitude = std::to_string(term.coefficient);
  if (term.coefficient < 0) {
    magnitude.erase(0, 1);
  }
  if (term.atoms.empty()) {
    return magnitude;
  }
  const bool alone = term.atoms.size() == 1 && term.coefficient == 1;
  std::string text = magnitude == "1" ? "" : magnitude;
  for (const Dim::Atom& atom : term.atoms) {
    const bool divides = atom.kind == Dim::AtomKind::kFloorDiv || atom.kind == Dim::AtomKind::kMod;
    text += text.empty() ? "" : "*";
    text += divides && !alone ? "(" + atomText(atom) + ")" : atomText(atom);
  }
  return text;
}

// Recursive descent; every function returns nothing where the text is no expression.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<Dim> parse() {
    const std::optional<Dim> dim = sum();
    skipSpaces();
    return at_ == text_.size() ? dim : std::nullopt;
  }

 private:
  static constexpr int kMaxDepth = 200;

  void skipSpaces() {
    while (at_ < text_.size() && text_[at_] == ' ') {
      ++at_;
    }
  }

  bool take(std::string_view token) {
    skipSpaces();
    if (text_.substr(at_, token.size()) != token) {
      return false;
    }
    at_ += token.size();
    return true;
  }

  std::optional<Dim> sum() {
    std::optional<Dim> left = product();
    while (left) {
      const bool plus = take("+");
      if (!plus && !take("-")) {
        break;
      }
      const std::optional<Dim> right = product();
      left = right ? std::optional(plus ? *left + *right : *left - *right) : std::nullopt;
    }
    return left;
  }

  std::optional<Dim> product() {
    std::optional<Dim> left = factor();
    while (left) {
      const char operation = take("*") ? '*' : (take("//") ? '/' : (take("%") ? '%' : 0));
      if (operation == 0) {
        break;
      }
      const std::optional<Dim> right = factor();
      if (!right) {
        return std::nullopt;
      }
      left = operation == '*' ? *left * *right
                              : (operation == '/' ? Dim::floorDiv(*left, *right) : Dim::mod(*left, *right));
    }
    return left;
  }

  std::optional<Dim> factor() {
    if (++depth_ > kMaxDepth) {
      return std::nullopt;
    }
    std::optional<Dim> dim = take("-") ? negated() : primary();
    --depth_;
    return dim;
  }

  std::optional<Dim> negated() {
    skipSpaces();
    if (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      return number(true);
    }
    const std::optional<Dim> dim = factor();
    return dim ? std::optional(-*dim) : std::nullopt;
  }

  std::optional<Dim> primary() {
    if (take("(")) {
      const std::optional<Dim> inner = sum();
      return take(")") ? inner : std::nullopt;
    }
    if (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      return number(false);
    }
    const std::string name = word();
    if (name == "max" || name == "min") {
      return extremum(name == "max");
    }
    return name.empty() ? std::nullopt : std::optional(Dim::symbol(name));
  }

  std::optional<Dim> extremum(bool is_max) {
    if (!take("(")) {
      return std::nullopt;
    }
    const std::optional<Dim> a = sum();
    if (!a || !take(",")) {
      return std::nullopt;
    }
    const std::optional<Dim> b = sum();
    if (!b || !take(")")) {
      return std::nullopt;
    }
    return is_max ? Dim::max(*a, *b) : Dim::min(*a, *b);
  }

  // The sign belongs to the number: the smallest int64 has no positive counterpart.
  std::optional<Dim> number(bool negative) {
    std::string digits = negative ? "-" : "";
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      digits += text_[at_++];
    }
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() ? std::optional(Dim(value)) : std::nullopt;
  }

  std::string word() {
    std::string name;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_' ||
                                  (text_[at_] == '.' && !name.empty()))) {
      name += text_[at_++];
    }
    return name;
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::string Dim::toString() const {
  if (isConstant()) {
    return std::to_string(value_);
  }
  std::string text;
  for (const Term& term : terms()) {
    text += term.coefficient < 0 ? "-" : (text.empty() ? "" : "+");
    text += termText(term);
  }
  return text;
}

std::optional<Dim> Dim::parse(std::string_view text) {
  try {
    return Parser(text).parse();
  } catch (const CompileError&) {
    return std::nullopt;  // division by zero, overflow, or no name
  }
}

}  // namespace torchtrt
