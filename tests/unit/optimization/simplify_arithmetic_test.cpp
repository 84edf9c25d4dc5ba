#include <gtest/gtest.h>

#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

// Layers that read %x and %z and end in %y; %c is a constant if they read it.
std::string layers(const std::string& text, const std::string& constant = "", const std::string& type = "float32") {
  return "network \"n\" () {\n  input %x : " + type + "[2]\n  input %z : " + type + "[2]\n" +
         (constant.empty() ? "" : "  %c = constant() {} : " + constant + "\n") + text + "  output \"y\" %y\n}";
}

TEST(SimplifyArithmetic, Powers) {
  expectChanged("simplify_arithmetic", layers("  %y = elementwise(%x, %c) {op=\"pow\"}\n", "float32[] data=[2]"),
                layers("  %y = unary(%x) {op=\"square\"}\n"));
  expectChanged("simplify_arithmetic", layers("  %y = elementwise(%x, %c) {op=\"pow\"}\n", "float32[1] data=[-1]"),
                layers("  %y = unary(%x) {op=\"reciprocal\"}\n"));
}

TEST(SimplifyArithmetic, Reciprocal) {
  expectChanged("simplify_arithmetic", layers("  %y = elementwise(%c, %x) {op=\"div\"}\n", "float32[2] data=[1, 1]"),
                layers("  %y = unary(%x) {op=\"reciprocal\"}\n"));
}

TEST(SimplifyArithmetic, NegatedOperands) {
  expectChanged("simplify_arithmetic",
                layers("  %n = unary(%z) {op=\"neg\"}\n  %y = elementwise(%n, %x) {op=\"sum\"}\n"),
                layers("  %y = elementwise(%x, %z) {op=\"sub\"}\n"));
  expectChanged("simplify_arithmetic",
                layers("  %n = unary(%z) {op=\"neg\"}\n  %y = elementwise(%x, %n) {op=\"sub\"}\n", "", "int64"),
                layers("  %y = elementwise(%x, %z) {op=\"sum\"}\n", "", "int64"));
}

TEST(SimplifyArithmetic, NotOtherPowers) {
  for (const char* exponent : {"0.5", "3", "-2"}) {
    SCOPED_TRACE(exponent);
    expectKept("simplify_arithmetic",
               layers("  %y = elementwise(%x, %c) {op=\"pow\"}\n", std::string("float32[] data=[") + exponent + "]"));
  }
  expectKept("simplify_arithmetic", layers("  %y = elementwise(%c, %x) {op=\"pow\"}\n", "float32[] data=[2]"));
  expectKept("simplify_arithmetic", layers("  %y = elementwise(%x, %c) {op=\"pow\"}\n", "int64[] data=[2]", "int64"));
  expectKept("simplify_arithmetic", layers("  %y = elementwise(%x, %c) {op=\"pow\"}\n", "float32[1, 1] data=[2]"));
}

TEST(SimplifyArithmetic, NotOtherQuotientsAndDifferences) {
  expectKept("simplify_arithmetic", layers("  %y = elementwise(%c, %x) {op=\"div\"}\n", "float32[] data=[2]"));
  expectKept("simplify_arithmetic",
             layers("  %y = elementwise(%c, %x) {op=\"div\", activation=\"relu\"}\n", "float32[] data=[1]"));
  expectKept("simplify_arithmetic", layers("  %n = unary(%x) {op=\"neg\"}\n  %y = elementwise(%n, %z) {op=\"sub\"}\n"));
}

}  // namespace
}  // namespace torchtrt::optimization::testing
