#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "base/saturating.h"
#include "torchtrt/error.h"
#include "torchtrt/types.h"

namespace torchtrt {
namespace {

Dim dim(const std::string& text) {
  const std::optional<Dim> parsed = Dim::parse(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.value_or(Dim(-999));
}

struct Case {
  const char* text;
  const char* canonical;
};

class DimSimplification : public testing::TestWithParam<Case> {};

TEST_P(DimSimplification, GivesTheCanonicalForm) {
  EXPECT_EQ(dim(GetParam().text).toString(), GetParam().canonical);
  EXPECT_EQ(dim(GetParam().canonical).toString(), GetParam().canonical) << "the form does not read back";
}

INSTANTIATE_TEST_SUITE_P(
    Dim, DimSimplification,
    testing::Values(
        // sums and products
        Case{"2+3", "5"}, Case{"-7", "-7"}, Case{"-9223372036854775808", "-9223372036854775808"}, Case{"b+a", "a+b"},
        Case{"a+a", "2*a"}, Case{"a-a", "0"}, Case{"a+1-1", "a"}, Case{"1+a*2", "2*a+1"}, Case{"b*a*3", "3*a*b"},
        Case{"(a+1)*(a-1)", "a*a-1"}, Case{"-a", "-a"}, Case{"-(a+b)", "-a-b"}, Case{"0*a", "0"},
        // division by numbers
        Case{"7//2", "3"}, Case{"-7//2", "-4"}, Case{"7//-2", "-4"}, Case{"4*a//2", "2*a"},
        Case{"(4*a+2*b)//2", "2*a+b"}, Case{"(a-1)//2", "(a+1)//2-1"}, Case{"3*a//2", "a+a//2"},
        Case{"(2*a+1)//4", "a//2"}, Case{"6*a//4", "a+a//2"}, Case{"a//1", "a"}, Case{"a//-1", "-a"},
        Case{"(a//2)//3", "a//6"}, Case{"((a+1)//2+1)//2", "(a+3)//4"}, Case{"2*(a//2)", "2*(a//2)"},
        Case{"b-a//2", "b-(a//2)"}, Case{"a//2//b", "(a//2)//b"},
        // division by expressions
        Case{"a*4//a", "4"}, Case{"a*b*6//(2*a)", "3*b"}, Case{"(a*b+a)//(b+1)", "a"}, Case{"(a*a-1)//(a-1)", "a+1"},
        Case{"(3*a+5)//a", "5//a+3"}, Case{"a*b//(2*a)", "b//2"}, Case{"a*b*c*8//(4*b)", "2*a*c"},
        Case{"4*a*b//(4*a)", "b"}, Case{"4*(a//4)//4", "a//4"}, Case{"-4*a//4", "-a"}, Case{"4*a//(-4)", "-a"},
        Case{"-4*a//(-2*a)", "2"}, Case{"6*a//(4*a)", "1"}, Case{"-6*a//(4*a)", "-2"}, Case{"a//(4*a)", "0"},
        Case{"(3*a+3*b)//(2*a+2*b)", "1"}, Case{"(-3*a-3*b)//(2*a+2*b)", "-2"}, Case{"(a*c+b*c)//(2*a+2*b)", "c//2"},
        Case{"(4*a*b+4*b)//(2*a+2)", "2*b"}, Case{"(a*b+b+3)//(a+1)", "b+3//(a+1)"},
        Case{"(2*a+2*b-1)//(a+b)", "(-1)//(a+b)+2"}, Case{"a*a//(a+1)", "(a*a)//(a+1)"},
        Case{"(a+b)*c//(2*a-2*b)", "(a*c+b*c)//(2*a-2*b)"}, Case{"0//a", "0"}, Case{"(a+b)//(a+c)", "(a+b)//(a+c)"},
        Case{"a//a", "1"},
        // remainders
        Case{"7%3", "1"}, Case{"-7%3", "2"}, Case{"7%-3", "-2"}, Case{"4*a%2", "0"}, Case{"(4*a+3)%2", "1"},
        Case{"(a+5)%2", "(a+1)%2"}, Case{"(2*a+1)%4", "2*(a%2)+1"}, Case{"3*(a+b)%(2*a+2*b)", "a+b"},
        Case{"-3*(a+b)%(2*a+2*b)", "a+b"}, Case{"c*(a+b)%(2*a+2*b)", "a*(c%2)+b*(c%2)"},
        Case{"(a*b+b+3)%(a+1)", "3%(a+1)"}, Case{"4*a*b%(2*a)", "0"}, Case{"(4*a+6)%(2*a+3)", "0"}, Case{"a*b%a", "0"},
        Case{"(a*b+c)%b", "c%b"}, Case{"a%1", "0"},
        // extrema
        Case{"max(2,3)", "3"}, Case{"min(2,3)", "2"}, Case{"max(a,a)", "a"}, Case{"max(a,a+1)", "a+1"},
        Case{"min(a-1,a)", "a-1"}, Case{"max(1,a)", "max(a,1)"}, Case{"max(max(b,a),max(a,2))", "max(a,max(b,2))"},
        Case{"min(3,min(a,5))", "min(a,3)"}, Case{"max(a,1)+max(1,a)", "2*max(a,1)"},
        Case{"max(a+1,3)//2", "max(a+1,3)//2"}));

TEST(Dim, ParsesSpacesNestingAndLongNames) {
  EXPECT_EQ(dim(" ( batch_size.0 + 1 ) // 2 ").toString(), "(batch_size.0+1)//2");
  EXPECT_EQ(dim("max( a , min(b,3) )").toString(), "max(a,min(b,3))");
}

TEST(Dim, RefusesWhatIsNoExpression) {
  for (const char* text : {"", "a b", "1a", "a+", "(a", "a)", "max(a)", "max", "a/2", "a//0", "a%0", "*a", "a,b",
                           "99999999999999999999", "9223372036854775807+1", "a..//", "$"}) {
    EXPECT_FALSE(Dim::parse(text).has_value()) << text;
  }
  EXPECT_FALSE(Dim::parse(std::string(10000, '(')).has_value()) << "nesting is bounded";
  EXPECT_FALSE(Dim::parse(std::string(10000, '-') + "a").has_value());
}

// Texts of a few hundred bytes that would take any memory, or seconds.
TEST(Dim, RefusesExpressionsThatGrowWithoutBound) {
  std::string product = "1";
  std::string maximum = "a";
  std::string quotient = "a";
  for (int i = 0; i < 100; ++i) {
    const std::string number = std::to_string(i);
    product += "*(a" + number + "+b" + number + ")";
    maximum = "max(" + maximum + ",b" + number + ")";
    quotient = i < 13 ? "(" + quotient + ")//(" + quotient + "+b" + number + ")" : quotient;
  }
  EXPECT_FALSE(Dim::parse(product).has_value());
  EXPECT_FALSE(Dim::parse(maximum).has_value());
  EXPECT_FALSE(Dim::parse(quotient).has_value());
}

TEST(Dim, KnowsNumbersAndSymbols) {
  EXPECT_TRUE(Dim().isConstant());
  EXPECT_EQ(Dim().constant(), 0);
  EXPECT_EQ(Dim(7).asConstant(), 7);
  EXPECT_FALSE(Dim::symbol("s0").asConstant().has_value());
  EXPECT_TRUE(Dim::symbol("s0").isSymbol());
  EXPECT_EQ(Dim::symbol("s0").symbolName(), "s0");
  EXPECT_FALSE(dim("2*s0").isSymbol());
  EXPECT_FALSE(dim("s0//2").isSymbol());
  EXPECT_THROW(Dim::symbol("s0").constant(), InternalError);
  EXPECT_THROW(Dim(1).symbolName(), InternalError);
  for (const char* name : {"", "0s", "max", "min", "a b", "a-b", "ä"}) {
    EXPECT_THROW(Dim::symbol(name), CompileError) << name;
  }
}

TEST(Dim, ListsItsSymbolsSortedAndOnce) {
  EXPECT_EQ(dim("b*max(a,c//b)+b").symbols(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(Dim(3).symbols().empty());
}

TEST(Dim, ShowsItsTerms) {
  EXPECT_TRUE(Dim(0).terms().empty());
  ASSERT_EQ(Dim(5).terms().size(), 1u);
  EXPECT_EQ(Dim(5).terms()[0].coefficient, 5);
  EXPECT_TRUE(Dim(5).terms()[0].atoms.empty());
  const Dim sum = dim("3*(a//2)+1");
  ASSERT_EQ(sum.terms().size(), 2u);
  EXPECT_EQ(sum.terms()[0].coefficient, 3);
  EXPECT_EQ(sum.terms()[0].atoms[0].kind, Dim::AtomKind::kFloorDiv);
  EXPECT_EQ(Dim::fromTerms(sum.terms()), sum);
}

TEST(Dim, OrdersSymbolsBeforeNumbersAlwaysAlike) {
  const std::vector<Dim> rising = {dim("a*b"), dim("a"), dim("b"), dim("a//2"), Dim(-1), Dim(0), Dim(3)};
  for (size_t i = 0; i < rising.size(); ++i) {
    for (size_t j = 0; j < rising.size(); ++j) {
      EXPECT_EQ(rising[i] < rising[j], i < j) << rising[i].toString() << " " << rising[j].toString();
      EXPECT_EQ(rising[i] == rising[j], i == j);
    }
  }
}

TEST(Dim, ReportsOverflowWhereItIsComputed) {
  const Dim huge = kInt64Max;
  EXPECT_THROW(huge + Dim(1), CompileError);
  EXPECT_THROW(huge * Dim(2), CompileError);
  EXPECT_THROW(huge * Dim::symbol("a") * Dim(2), CompileError);
  const auto value = [](const std::string&) { return kInt64Max; };
  try {
    dim("2*a").evaluate(value);
    FAIL() << "no error";
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kShapeArithmetic);
    EXPECT_THAT(error.message(), testing::HasSubstr("2*a"));
  }
}

TEST(Dim, ReportsDivisionByZeroAtRunTime) {
  EXPECT_THROW(dim("a//b").evaluate([](const std::string& name) { return name == "b" ? 0 : 5; }), EngineError);
  EXPECT_THROW(dim("a%b").evaluate([](const std::string& name) { return name == "b" ? 0 : 5; }), EngineError);
  EXPECT_THROW(Dim::floorDiv(Dim::symbol("a"), 0), CompileError);
}

class DimRange : public testing::TestWithParam<std::tuple<const char*, int64_t, int64_t>> {};

// a in [1, 8], b in [0, 3], z unbounded.
TEST_P(DimRange, IsExactForMonotoneExpressions) {
  const auto [text, low, high] = GetParam();
  const auto range = dim(text).range([](const std::string& name) {
    return name == "a" ? Symbol{"a", 1, 4, 8} : (name == "b" ? Symbol{"b", 0, 1, 3} : Symbol{"z", 0, 1, kInt64Max});
  });
  EXPECT_EQ(range.first, low) << text;
  EXPECT_EQ(range.second, high) << text;
}

INSTANTIATE_TEST_SUITE_P(Dim, DimRange,
                         testing::Values(std::tuple{"5", 5, 5}, std::tuple{"a", 1, 8}, std::tuple{"2*a+1", 3, 17},
                                         std::tuple{"-a", -8, -1}, std::tuple{"a*b", 0, 24},
                                         std::tuple{"(a+1)//2", 1, 4}, std::tuple{"100//a", 12, 100},
                                         std::tuple{"a%3", 0, 2}, std::tuple{"a%100", 1, 8},
                                         std::tuple{"max(a,b)", 1, 8}, std::tuple{"min(a,2)", 1, 2},
                                         std::tuple{"10//b", 3, 10}, std::tuple{"2*z", 0, kInt64Max},
                                         std::tuple{"z*z+1", 1, kInt64Max}, std::tuple{"a-z", 1 - kInt64Max, 8}));

// Random expressions beside the functions that compute them directly.
struct Expression {
  Dim dim;
  std::function<std::optional<int64_t>(int64_t, int64_t)> value;  // of a and b; nothing where a divisor is 0
};

class ExpressionMaker {
 public:
  explicit ExpressionMaker(uint64_t seed) : random_(seed) {}

  int64_t pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }

  Expression make(int depth) {
    if (depth == 0 || pick(0, 5) == 0) {
      return leaf();
    }
    const Expression x = make(depth - 1);
    const Expression y = make(depth - 1);
    switch (pick(0, 7)) {
      case 0:
        return {x.dim + y.dim, combine(x, y, [](int64_t p, int64_t q) { return p + q; })};
      case 1:
        return {x.dim - y.dim, combine(x, y, [](int64_t p, int64_t q) { return p - q; })};
      case 2:
        return {x.dim * y.dim, combine(x, y, [](int64_t p, int64_t q) { return p * q; })};
      case 3:
        return {Dim::max(x.dim, y.dim), combine(x, y, [](int64_t p, int64_t q) { return std::max(p, q); })};
      case 4:
        return {Dim::min(x.dim, y.dim), combine(x, y, [](int64_t p, int64_t q) { return std::min(p, q); })};
      default:
        return quotient(x, y);
    }
  }

 private:
  using Value = std::function<std::optional<int64_t>(int64_t, int64_t)>;

  static Value combine(const Expression& x, const Expression& y,
                       std::optional<int64_t> (*operation)(int64_t, int64_t)) {
    return [x, y, operation](int64_t a, int64_t b) -> std::optional<int64_t> {
      const auto p = x.value(a, b);
      const auto q = y.value(a, b);
      return p && q ? operation(*p, *q) : std::nullopt;
    };
  }

  template <typename Operation>
  static Value combine(const Expression& x, const Expression& y, Operation operation) {
    return [x, y, operation](int64_t a, int64_t b) -> std::optional<int64_t> {
      const auto p = x.value(a, b);
      const auto q = y.value(a, b);
      return p && q ? std::optional<int64_t>(operation(*p, *q)) : std::nullopt;
    };
  }

  Expression leaf() {
    const int64_t number = pick(-6, 9);
    switch (pick(0, 2)) {
      case 0:
        return {Dim::symbol("a"), [](int64_t a, int64_t) { return a; }};
      case 1:
        return {Dim::symbol("b"), [](int64_t, int64_t b) { return b; }};
      default:
        return {number, [number](int64_t, int64_t) { return number; }};
    }
  }

  // Divides doubles, as an independent definition: the numbers are small.
  static std::optional<int64_t> floorQuotient(int64_t p, int64_t q) {
    return q == 0 ? std::nullopt
                  : std::optional(static_cast<int64_t>(std::floor(static_cast<double>(p) / static_cast<double>(q))));
  }
  static std::optional<int64_t> ceilQuotient(int64_t p, int64_t q) {
    return q == 0 ? std::nullopt
                  : std::optional(static_cast<int64_t>(std::ceil(static_cast<double>(p) / static_cast<double>(q))));
  }
  static std::optional<int64_t> remainder(int64_t p, int64_t q) {
    const auto quotient = floorQuotient(p, q);
    return quotient ? std::optional(p - *quotient * q) : std::nullopt;
  }

  Expression quotient(const Expression& x, const Expression& y) {
    if (y.dim == Dim(0)) {
      return x;
    }
    switch (pick(0, 2)) {
      case 0:
        return {Dim::floorDiv(x.dim, y.dim), combine(x, y, &floorQuotient)};
      case 1:
        return {Dim::ceilDiv(x.dim, y.dim), combine(x, y, &ceilQuotient)};
      default:
        return {Dim::mod(x.dim, y.dim), combine(x, y, &remainder)};
    }
  }

  std::mt19937_64 random_;
};

TEST(DimProperties, EvaluateToWhatTheOperationsGive) {
  int compared = 0;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    ExpressionMaker maker(seed);
    const Expression expression = maker.make(4);
    const std::string text = expression.dim.toString();
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text);
    const std::optional<Dim> reparsed = Dim::parse(text);
    ASSERT_TRUE(reparsed.has_value());
    ASSERT_EQ(*reparsed, expression.dim) << reparsed->toString();
    ASSERT_EQ(reparsed->toString(), text);
    const auto [low, high] = expression.dim.range([](const std::string& name) { return Symbol{name, 0, 1, 7}; });
    for (int64_t a = 0; a <= 7; ++a) {
      for (int64_t b = 0; b <= 7; ++b) {
        const std::optional<int64_t> expected = expression.value(a, b);
        if (!expected || std::abs(*expected) > (int64_t{1} << 50)) {
          continue;
        }
        const int64_t value = expression.dim.evaluate([&](const std::string& name) { return name == "a" ? a : b; });
        ASSERT_EQ(value, *expected) << "a=" << a << " b=" << b;
        ASSERT_LE(low, value);
        ASSERT_GE(high, value);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 100000);
}

TEST(DimProperties, EqualOnlyWhereEqualForAllValues) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    ExpressionMaker maker(seed);
    const Dim x = maker.make(2).dim;
    const Dim y = maker.make(2).dim;
    EXPECT_EQ(x == y, !(x < y) && !(y < x));
    EXPECT_EQ(x + y, y + x);
    EXPECT_EQ(x * y, y * x);
    EXPECT_EQ((x + y) - y, x);
    EXPECT_EQ(Dim::max(x, y), Dim::max(y, x));
  }
}

TEST(Dims, CountsAndPrints) {
  const Dims dims{Dim::symbol("n"), 3, 4};
  EXPECT_EQ(dims.rank(), 3);
  EXPECT_EQ(dims.toString(), "[n, 3, 4]");
  EXPECT_EQ(dims.numel().toString(), "12*n");
  EXPECT_FALSE(dims.isStatic());
  EXPECT_THROW(dims.constants(), InternalError);
  EXPECT_EQ(Dims().numel(), Dim(1));
  EXPECT_EQ(Dims().toString(), "[]");
  EXPECT_EQ(Dims::of({2, 0}).constants(), (std::vector<int64_t>{2, 0}));
  EXPECT_EQ(Dims::of({2, 0}).numel(), Dim(0));
}

TEST(Saturating, ClampsAtTheEnds) {
  EXPECT_EQ(saturatingAdd(kInt64Max, 1), kInt64Max);
  EXPECT_EQ(saturatingAdd(kInt64Min, -1), kInt64Min);
  EXPECT_EQ(saturatingMul(kInt64Max, 2), kInt64Max);
  EXPECT_EQ(saturatingMul(kInt64Max, -2), kInt64Min);
  EXPECT_EQ(saturatingFloorDiv(kInt64Min, -1), kInt64Max);
  EXPECT_EQ(floorModInt(kInt64Min, -1), 0);
  EXPECT_EQ(floorDivInt(-1, 2), -1);
  EXPECT_EQ(floorModInt(-1, 2), 1);
}

}  // namespace
}  // namespace torchtrt
