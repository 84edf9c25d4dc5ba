#include <gtest/gtest.h>

#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

std::string combined(const std::string& type, const std::string& operands, const std::string& op) {
  return "network \"n\" () {\n  input %x : " + type + "[2]\n  %c = constant() {} : " + type +
         "[2] data=[1, 2]\n  %y = elementwise(" + operands + ") {op=\"" + op + "\"}\n  output \"y\" %y\n}";
}

TEST(MoveConstantsRight, OfCommutativeOperators) {
  for (const char* op : {"sum", "prod", "max", "min", "equal", "not_equal"}) {
    SCOPED_TRACE(op);
    expectChanged("move_constants_right", combined("float32", "%c, %x", op), combined("float32", "%x, %c", op));
  }
  for (const char* op : {"and", "or", "xor", "bitwise_and", "bitwise_or", "bitwise_xor"}) {
    SCOPED_TRACE(op);
    expectChanged("move_constants_right", combined("int64", "%c, %x", op), combined("int64", "%x, %c", op));
  }
}

TEST(MoveConstantsRight, OfComparisonsByTurningThem) {
  for (const auto& [op, turned] : {std::pair{"less", "greater"},
                                   {"greater", "less"},
                                   {"less_equal", "greater_equal"},
                                   {"greater_equal", "less_equal"}}) {
    SCOPED_TRACE(op);
    expectChanged("move_constants_right", combined("float32", "%c, %x", op), combined("float32", "%x, %c", turned));
  }
}

TEST(MoveConstantsRight, NotOfOperatorsWithAnOrder) {
  for (const char* op : {"sub", "div", "floor_div", "mod", "fmod", "pow", "atan2"}) {
    SCOPED_TRACE(op);
    expectKept("move_constants_right", combined("float32", "%c, %x", op));
  }
}

TEST(MoveConstantsRight, NotWhereTheyAreOrBothAreConstant) {
  expectKept("move_constants_right", combined("float32", "%x, %c", "sum"));
  expectKept("move_constants_right", combined("float32", "%c, %c", "sum"));
}

}  // namespace
}  // namespace torchtrt::optimization::testing
