#include <gtest/gtest.h>

#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

// Pieces that read %x and end in %y; scalars they use are there.
std::string pieces(const std::string& layers, const std::string& outputs = "") {
  std::string scalars;
  for (const auto& [name, value] : {std::pair{"zero", "0"},
                                    {"one", "1"},
                                    {"three", "3"},
                                    {"six", "6"},
                                    {"half", "0.5"},
                                    {"sixth", "0.16666667"},
                                    {"root", "1.4142135"},
                                    {"inverse_root", "0.70710677"}}) {
    const std::string operand = std::string("%") + name;
    if (layers.find(operand + ",") != std::string::npos || layers.find(operand + ")") != std::string::npos) {
      scalars += std::string("  %") + name + " = constant() {} : float32[] data=[" + value + "]\n";
    }
  }
  return "network \"n\" () {\n  input %x : float32[2, 8]\n" + scalars + layers + "  output \"y\" %y\n" + outputs + "}";
}

void expectRecognized(const std::string& layers, const std::string& activation) {
  SCOPED_TRACE(layers);
  expectChanged("recognize_activations", pieces(layers),
                "network \"n\" () {\n  input %x : float32[2, 8]\n  %y = activation(%x) {" + activation +
                    "}\n  output \"y\" %y\n}");
}

TEST(RecognizeActivations, Silu) {
  expectRecognized("  %s = activation(%x) {op=\"sigmoid\"}\n  %y = elementwise(%x, %s) {op=\"prod\"}\n", "op=\"silu\"");
  expectRecognized("  %s = activation(%x) {op=\"sigmoid\"}\n  %y = elementwise(%s, %x) {op=\"prod\"}\n", "op=\"silu\"");
}

TEST(RecognizeActivations, Mish) {
  expectRecognized(
      "  %p = activation(%x) {op=\"softplus\", alpha=1, beta=20}\n  %t = activation(%p) {op=\"tanh\"}\n"
      "  %y = elementwise(%x, %t) {op=\"prod\"}\n",
      "op=\"mish\"");
}

constexpr const char* kReluSix =
    "  %a = elementwise(%x, %three) {op=\"sum\"}\n  %c = activation(%a) {op=\"clip\", alpha=0, beta=6}\n";

TEST(RecognizeActivations, HardSwish) {
  const std::string clipped = kReluSix;
  expectRecognized(clipped + "  %p = elementwise(%x, %c) {op=\"prod\"}\n  %y = elementwise(%p, %six) {op=\"div\"}\n",
                   "op=\"hard_swish\"");
  expectRecognized(clipped + "  %p = elementwise(%c, %x) {op=\"prod\"}\n  %y = elementwise(%sixth, %p) {op=\"prod\"}\n",
                   "op=\"hard_swish\"");
  expectRecognized(clipped + "  %d = elementwise(%c, %six) {op=\"div\"}\n  %y = elementwise(%x, %d) {op=\"prod\"}\n",
                   "op=\"hard_swish\"");
}

TEST(RecognizeActivations, HardSigmoid) {
  expectRecognized(std::string(kReluSix) + "  %y = elementwise(%c, %six) {op=\"div\"}\n",
                   "op=\"hard_sigmoid\", alpha=0.16666666666666666, beta=0.5");
}

TEST(RecognizeActivations, GeluInEachOrderOfItsFactors) {
  const std::string by_root = "  %s = elementwise(%x, %root) {op=\"div\"}\n";
  const std::string by_inverse = "  %s = elementwise(%x, %inverse_root) {op=\"prod\"}\n";
  const std::string cdf = "  %e = unary(%s) {op=\"erf\"}\n  %c = elementwise(%e, %one) {op=\"sum\"}\n";
  expectRecognized(
      by_root + cdf + "  %h = elementwise(%x, %half) {op=\"prod\"}\n  %y = elementwise(%h, %c) {op=\"prod\"}\n",
      "op=\"gelu_erf\"");
  expectRecognized(
      by_inverse + cdf + "  %h = elementwise(%c, %half) {op=\"prod\"}\n  %y = elementwise(%x, %h) {op=\"prod\"}\n",
      "op=\"gelu_erf\"");
  expectRecognized(
      by_root + cdf + "  %h = elementwise(%c, %x) {op=\"prod\"}\n  %y = elementwise(%half, %h) {op=\"prod\"}\n",
      "op=\"gelu_erf\"");
}

TEST(RecognizeActivations, Bounds) {
  expectRecognized("  %l = elementwise(%x, %zero) {op=\"max\"}\n  %y = elementwise(%l, %six) {op=\"min\"}\n",
                   "op=\"clip\", alpha=0, beta=6");
  expectRecognized("  %l = elementwise(%half, %x) {op=\"max\"}\n  %y = elementwise(%six, %l) {op=\"min\"}\n",
                   "op=\"clip\", alpha=0.5, beta=6");
  expectRecognized("  %y = elementwise(%zero, %x) {op=\"max\"}\n", "op=\"relu\"");
  expectRecognized("  %r = activation(%x) {op=\"relu\"}\n  %y = activation(%r) {op=\"clip\", alpha=-1, beta=6}\n",
                   "op=\"clip\", alpha=0, beta=6");
}

TEST(RecognizeActivations, NotWithOtherNumbers) {
  expectKept("recognize_activations",
             pieces("  %a = elementwise(%x, %one) {op=\"sum\"}\n  %c = activation(%a) {op=\"clip\", alpha=0, beta=6}\n"
                    "  %y = elementwise(%c, %six) {op=\"div\"}\n"));
  expectKept("recognize_activations",
             pieces("  %l = elementwise(%x, %six) {op=\"max\"}\n  %y = elementwise(%l, %zero) {op=\"min\"}\n"));
  expectKept("recognize_activations",
             pieces("  %r = activation(%x) {op=\"relu\"}\n  %y = activation(%r) {op=\"clip\", alpha=1, beta=6}\n"));
}

TEST(RecognizeActivations, NotOfTwoTensors) {
  expectKept("recognize_activations",
             pieces("  %t = activation(%x) {op=\"tanh\"}\n  %s = activation(%t) {op=\"sigmoid\"}\n"
                    "  %y = elementwise(%x, %s) {op=\"prod\"}\n"));
}

TEST(RecognizeActivations, NotPiecesThatOthersRead) {
  expectKept("recognize_activations",
             pieces("  %s = activation(%x) {op=\"sigmoid\"}\n  %y = elementwise(%x, %s) {op=\"prod\"}\n",
                    "  output \"s\" %s\n"));
}

TEST(RecognizeActivations, NotIntegers) {
  expectKept("recognize_activations", R"(network "n" () {
  input %x : int64[2]
  %zero = constant() {} : int64[] data=[0]
  %y = elementwise(%x, %zero) {op="max"}
  output "y" %y
})");
}

TEST(RecognizeActivations, NotWhereAScalarEnlarges) {
  expectKept("recognize_activations", R"(network "n" () {
  input %x : float32[2]
  %zero = constant() {} : float32[1, 1] data=[0]
  %y = elementwise(%x, %zero) {op="max"}
  output "y" %y
})");
}

std::string geluTanhPieces(const std::string& cube, const std::string& end) {
  return R"(network "n" () {
  input %x : float32[4]
  %half = constant() {} : float32[] data=[0.5]
  %one = constant() {} : float32[] data=[1]
  %a = constant() {} : float32[] data=[0.044715]
  %f = constant() {} : float32[] data=[0.7978845608]
)" + cube +
         R"(
  %scaled = elementwise(%cube, %a) {op="prod"}
  %inner = elementwise(%x, %scaled) {op="sum"}
  %argument = elementwise(%f, %inner) {op="prod"}
  %tanh = activation(%argument) {op="tanh"}
  %cdf = elementwise(%tanh, %one) {op="sum"}
)" + end +
         R"(
  output "y" %y
})";
}

constexpr const char* kGeluTanh = R"(network "n" () {
  input %x : float32[4]
  %y = activation(%x) {op="gelu_tanh"}
  output "y" %y
})";

TEST(RecognizeActivations, GeluTanhOfAPower) {
  expectChanged("recognize_activations",
                geluTanhPieces(R"(  %three = constant() {} : float32[] data=[3]
  %cube = elementwise(%x, %three) {op="pow"})",
                               R"(  %h = elementwise(%x, %half) {op="prod"}
  %y = elementwise(%h, %cdf) {op="prod"})"),
                kGeluTanh);
}

TEST(RecognizeActivations, GeluTanhOfProducts) {
  expectChanged("recognize_activations",
                geluTanhPieces(R"(  %square = elementwise(%x, %x) {op="prod"}
  %cube = elementwise(%square, %x) {op="prod"})",
                               R"(  %h = elementwise(%cdf, %half) {op="prod"}
  %y = elementwise(%x, %h) {op="prod"})"),
                kGeluTanh);
}

TEST(RecognizeActivations, NotGeluTanhOfAnotherPower) {
  expectKept("recognize_activations", geluTanhPieces("  %cube = elementwise(%x, %half) {op=\"pow\"}",
                                                     R"(  %h = elementwise(%x, %half) {op="prod"}
  %y = elementwise(%h, %cdf) {op="prod"})"));
}

}  // namespace
}  // namespace torchtrt::optimization::testing
