#include <gtest/gtest.h>

#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

// A network of one input and one layer that reads it; `constants` come before.
std::string oneLayer(const std::string& type, const std::string& layer, const std::string& constants = "") {
  return "network \"n\" (s0 in [1, 2, 4]) {\n  input %x : " + type + "\n" + constants + "  %y = " + layer +
         "\n  output \"y\" %y\n}";
}

void expectRemoved(const std::string& type, const std::string& layer, const std::string& constants = "") {
  SCOPED_TRACE(layer);
  expectChanged("remove_no_ops", oneLayer(type, layer, constants),
                "network \"n\" (s0 in [1, 2, 4]) {\n  input %x : " + type + "\n  output \"y\" %x\n}");
}

void expectLeft(const std::string& type, const std::string& layer, const std::string& constants = "") {
  SCOPED_TRACE(layer);
  expectKept("remove_no_ops", oneLayer(type, layer, constants));
}

std::string constant(const std::string& type, const std::string& data) {
  return "  %c = constant() {} : " + type + " data=[" + data + "]\n";
}

TEST(RemoveNoOps, LayersThatMoveNothing) {
  expectRemoved("float32[s0, 2]", "identity(%x) {}");
  expectRemoved("float32[s0, 2]", "cast(%x) {to=float32}");
  expectRemoved("float32[s0, 2]", "shuffle(%x) {first_permutation=[0, 1]}");
  expectRemoved("float32[s0, 2]", "shuffle(%x) {reshape_dims=[s0, 2]}");
  expectRemoved("float32[s0, 2]", "shuffle(%x) {reshape_dims=[0, -1]}");
  expectRemoved("float32[2, 2]", "shuffle(%x) {first_permutation=[1, 0], second_permutation=[1, 0]}");
  expectRemoved("float32[1, 1, 3]", "shuffle(%x) {first_permutation=[1, 0, 2]}");
  expectRemoved("float32[s0, 2]", "slice(%x) {start=[0, 0], size=[s0, 2], stride=[1, 1]}");
  expectRemoved("float32[s0, 2]", "expand(%x) {dims=[s0, 2]}");
  expectRemoved("float32[s0, 2]", "concatenation(%x) {axis=1}");
  expectRemoved("float32[s0, 2]", "padding(%x) {pre=[0, 0], post=[0, 0]}");
  expectRemoved("float32[s0, 2]", "padding(%x) {pre=[0, 0], post=[0, 0], mode=\"reflect\"}");
  expectRemoved("float32[1, 1, 3, 3]", "pooling(%x) {op=\"max\", window=[1, 1], stride=[1, 1]}");
  expectRemoved("float32[1, 1, 3, 3]", "adaptive_pooling(%x) {op=\"average\", output_size=[3, 3]}");
  expectRemoved("float32[1, 1, 3, 3]", "resize(%x) {mode=\"nearest\", size=[3, 3]}");
}

TEST(RemoveNoOps, NotLayersThatMoveSomething) {
  expectLeft("float32[s0, 2]", "cast(%x) {to=float64}");
  expectLeft("float32[2, 2]", "shuffle(%x) {first_permutation=[1, 0]}");
  expectLeft("float32[s0, 2]", "shuffle(%x) {reshape_dims=[-1]}");
  expectLeft("float32[s0, 2]", "slice(%x) {start=[0, 1], size=[s0, 1], stride=[1, 1]}");
  expectLeft("float32[2, 2]", "slice(%x) {start=[1, 0], size=[2, 2], stride=[-1, 1]}");
  expectLeft("float32[1, 2]", "expand(%x) {dims=[s0, 2]}");
  expectLeft("float32[s0, 2]", "concatenation(%x, %x) {axis=1}");
  expectLeft("float32[s0, 2]", "padding(%x) {pre=[0, 1], post=[0, 0]}");
  expectLeft("float32[s0, 2]", "padding(%x) {pre=[0, 1], post=[0, -1]}");
  expectLeft("float32[1, 1, 3, 3]", "pooling(%x) {op=\"max\", window=[1, 1], stride=[2, 2]}");
  expectLeft("float32[1, 1, 3, 3]", "pooling(%x) {op=\"average\", window=[1, 1], stride=[1, 1], divisor=2}");
  expectLeft("float32[1, 1, 3, 3]", "adaptive_pooling(%x) {op=\"average\", output_size=[3, 2]}");
  expectLeft("float32[1, 1, 3, 3]", "resize(%x) {mode=\"linear\", size=[3, 3]}");
  expectLeft("float32[1, 1, 3, 3]", "resize(%x) {mode=\"nearest\", size=[3, 3], scales=[1.3, 1]}");
}

TEST(RemoveNoOps, NeutralElements) {
  expectRemoved("float32[s0, 2]", "elementwise(%x, %c) {op=\"prod\"}", constant("float32[1]", "1"));
  expectRemoved("float32[s0, 2]", "elementwise(%c, %x) {op=\"prod\"}", constant("float32[2]", "1, 1"));
  expectRemoved("float32[s0, 2]", "elementwise(%x, %c) {op=\"div\"}", constant("float32[1]", "1"));
  expectRemoved("float32[s0, 2]", "elementwise(%x, %c) {op=\"pow\"}", constant("float32[1]", "1"));
  expectRemoved("float32[s0, 2]", "elementwise(%x, %c) {op=\"sub\"}", constant("float32[1]", "0"));
  expectRemoved("float32[s0, 2]", "elementwise(%x, %c) {op=\"sum\"}", constant("float32[1]", "-0"));
  expectRemoved("int64[s0, 2]", "elementwise(%c, %x) {op=\"sum\"}", constant("int64[1]", "0"));
  expectRemoved("int64[s0, 2]", "elementwise(%x, %c) {op=\"floor_div\"}", constant("int64[1]", "1"));
}

TEST(RemoveNoOps, NotNeutralElementsThatAreNone) {
  // -0.0 + 0.0 is 0.0, and so is -0.0 - -0.0.
  expectLeft("float32[s0, 2]", "elementwise(%x, %c) {op=\"sum\"}", constant("float32[1]", "0"));
  expectLeft("float32[s0, 2]", "elementwise(%x, %c) {op=\"sub\"}", constant("float32[1]", "-0"));
  expectLeft("float32[s0, 2]", "elementwise(%c, %x) {op=\"sub\"}", constant("float32[1]", "0"));
  expectLeft("float32[s0, 2]", "elementwise(%c, %x) {op=\"div\"}", constant("float32[1]", "1"));
  expectLeft("float32[s0, 2]", "elementwise(%x, %c) {op=\"floor_div\"}", constant("float32[1]", "1"));
  expectLeft("float32[s0, 2]", "elementwise(%x, %c) {op=\"prod\"}", constant("float32[2]", "1, 2"));
  expectLeft("float32[s0, 2]", "elementwise(%x, %c) {op=\"prod\", activation=\"relu\"}", constant("float32[1]", "1"));
  expectLeft("float32[1, 2]", "elementwise(%x, %c) {op=\"prod\"}", constant("float32[2, 2]", "1, 1, 1, 1"));
}

std::string twoCasts(const char* from, const char* through, const char* to) {
  return std::string("network \"n\" () {\n  input %x : ") + from + "[2]\n  %a = cast(%x) {to=" + through +
         "}\n  %b = cast(%a) {to=" + to + "}\n  output \"y\" %b\n}";
}

TEST(RemoveNoOps, CastsThereAndBack) {
  for (const auto& [from, through] :
       {std::pair{"float32", "float64"}, {"int32", "int64"}, {"int32", "float64"}, {"bool", "int64"}}) {
    SCOPED_TRACE(from);
    expectChanged("remove_no_ops", twoCasts(from, through, from),
                  std::string("network \"n\" () {\n  input %x : ") + from + "[2]\n  output \"y\" %x\n}");
  }
  expectChanged("remove_no_ops", twoCasts("int32", "int64", "float32"),
                "network \"n\" () {\n  input %x : int32[2]\n  %b = cast(%x) {to=float32}\n  output \"y\" %b\n}");
}

TEST(RemoveNoOps, NotCastsThatLose) {
  expectKept("remove_no_ops", twoCasts("float64", "float32", "float64"));
  expectKept("remove_no_ops", twoCasts("int64", "float64", "int64"));
  expectKept("remove_no_ops", twoCasts("int32", "float32", "int32"));
  expectKept("remove_no_ops", twoCasts("int32", "bool", "int32"));
  expectKept("remove_no_ops", twoCasts("float32", "int64", "float32"));
  expectKept("remove_no_ops", twoCasts("int8", "uint8", "float32"));
}

TEST(RemoveNoOps, SelectOfOneTensor) {
  expectChanged("remove_no_ops", R"(network "n" () {
  input %c : bool[2]
  input %x : float32[2]
  %y = select(%c, %x, %x) {}
  output "y" %y
})",
                R"(network "n" () {
  input %c : bool[2]
  input %x : float32[2]
  output "y" %x
})");
  expectKept("remove_no_ops", R"(network "n" () {
  input %c : bool[3, 2]
  input %x : float32[2]
  %y = select(%c, %x, %x) {}
  output "y" %y
})");
}

}  // namespace
}  // namespace torchtrt::optimization::testing
