#include "base/dim_substitution.h"

#include <gtest/gtest.h>

#include "torchtrt/error.h"

namespace torchtrt {
namespace {

struct Case {
  const char* text;
  const char* result;  // with b in the place of a, and 4*d in that of c
};

class DimSubstitution : public testing::TestWithParam<Case> {};

std::optional<Dim> changed(const std::string& name) {
  if (name == "a") {
    return Dim::symbol("b");
  }
  return name == "c" ? std::optional(Dim(4) * Dim::symbol("d")) : std::nullopt;
}

TEST_P(DimSubstitution, GivesTheCanonicalForm) {
  EXPECT_EQ(substitute(*Dim::parse(GetParam().text), changed).toString(), GetParam().result);
}

INSTANTIATE_TEST_SUITE_P(Dim, DimSubstitution,
                         testing::Values(Case{"7", "7"}, Case{"a", "b"}, Case{"b", "b"}, Case{"a-b", "0"},
                                         Case{"a*e+1", "b*e+1"}, Case{"c//4", "d"}, Case{"(c+2)//4", "d"},
                                         Case{"c//8", "d//2"}, Case{"c%4", "0"}, Case{"(c+6)%4", "2"},
                                         Case{"max(a,b)", "b"}, Case{"min(a,c)", "min(b,4*d)"}, Case{"a//b", "1"},
                                         Case{"((a+1)//2)%c", "((b+1)//2)%(4*d)"}));

TEST(DimSubstitution, TakesAllDims) {
  EXPECT_EQ(substitute(Dims{3, Dim::symbol("a"), Dim::symbol("c")}, changed).toString(), "[3, b, 4*d]");
}

TEST(DimSubstitution, ADivisorThatBecomesZeroIsAnError) {
  EXPECT_THROW(substitute(*Dim::parse("x//(a-b)"), changed), CompileError);
}

}  // namespace
}  // namespace torchtrt
