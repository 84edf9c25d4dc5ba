// Writes to arguments as copies at the end, where the caller promises that they lie apart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowering/ir_text.h"
#include "lowering/lowering.h"

namespace torchtrt::lowering::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

LoweredGraph lowered(const std::string& text, bool arguments_apart = true) {
  LoweringOptions options;
  options.verify = true;
  options.arguments_apart = arguments_apart;
  return lower(parse(text), options);
}

const std::string kCache = R"(
graph(%cache : Tensor, %place : Tensor, %x : Tensor):
  %one : int = prim::Constant[value=1]()
  %written : Tensor = aten::index_copy_(%cache, %one, %place, %x)
  %y : Tensor = aten::tanh(%cache)
)";

TEST(FunctionalizeArguments, ReadersGetTheNextTensorAndTheCopyComesLast) {
  const LoweredGraph got = lowered(kCache + "  return (%y)");
  EXPECT_THAT(got.written_arguments, ElementsAre(0));
  EXPECT_EQ(textOf(*got.graph), R"(graph(%0 : Tensor,
      %1 : Tensor,
      %2 : Tensor):
  %3 : int = prim::Constant[value=1]()
  %4 : bool = prim::Constant[value=0]()
  %5 : Tensor = aten::index_copy(%0, %3, %1, %2)
  %6 : Tensor = aten::type_as(%5, %0)
  %7 : Tensor = aten::tanh(%6)
  %8 : Tensor = aten::copy_(%0, %6, %4)
  return (%7)
)");
}

TEST(FunctionalizeArguments, TheResultIsTheArgumentItself) {
  const LoweredGraph got = lowered(kCache + R"(  %zero : int = prim::Constant[value=0]()
  %row : Tensor = aten::select(%written, %zero, %zero)
  %result : (Tensor, Tensor, Tensor) = prim::TupleConstruct(%y, %written, %row)
  return (%result))");
  const std::string text = textOf(*got.graph);
  EXPECT_THAT(text, HasSubstr("= aten::select(%0, "));
  EXPECT_THAT(text, Not(HasSubstr("aten::index_copy_")));
  EXPECT_THAT(text, HasSubstr(" = aten::copy_(%0, "));
  EXPECT_THAT(text, HasSubstr("prim::TupleConstruct(%"));
  EXPECT_THAT(text, HasSubstr(", %0, %"));
}

TEST(FunctionalizeArguments, StayWithoutThePromise) {
  const LoweredGraph got = lowered(kCache + "  return (%y)", false);
  EXPECT_THAT(got.written_arguments, IsEmpty());
  EXPECT_THAT(textOf(*got.graph), HasSubstr("aten::index_copy_"));
}

TEST(FunctionalizeArguments, StayBesideAListThatMayHoldThem) {
  EXPECT_THAT(lowered(R"(
graph(%cache : Tensor, %others : Tensor[], %x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %written : Tensor = aten::add_(%cache, %x, %zero)
  %other : Tensor = aten::__getitem__(%others, %zero)
  %y : Tensor = aten::add(%other, %written, %zero)
  return (%y))")
                  .written_arguments,
              IsEmpty());
}

TEST(FunctionalizeArguments, StayWhereTheLayoutShows) {
  EXPECT_THAT(lowered(R"(
graph(%cache : Tensor, %x : Tensor):
  %one : int = prim::Constant[value=1]()
  %sizes : int[] = prim::ListConstruct(%one)
  %written : Tensor = aten::add_(%cache, %x, %one)
  %y : Tensor = aten::as_strided(%written, %sizes, %sizes, %one)
  %z : Tensor = aten::tanh(%y)
  return (%z))")
                  .written_arguments,
              IsEmpty());
}

TEST(FunctionalizeArguments, StayInALoopOfUnknownTrips) {
  EXPECT_THAT(lowered(R"(
graph(%cache : Tensor, %x : Tensor, %n : int):
  %one : int = prim::Constant[value=1]()
  %true : bool = prim::Constant[value=1]()
  prim::Loop(%n, %true)
    block0(%i : int):
      %written : Tensor = aten::add_(%cache, %x, %one)
      -> (%true)
  %y : Tensor = aten::tanh(%cache)
  return (%y))")
                  .written_arguments,
              IsEmpty());
}

}  // namespace
}  // namespace torchtrt::lowering::testing
