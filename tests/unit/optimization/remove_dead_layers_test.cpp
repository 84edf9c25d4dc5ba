#include <gtest/gtest.h>

#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

TEST(RemoveDeadLayers, WholeChainsAndTheirConstants) {
  expectChanged("remove_dead_layers", R"(network "n" () {
  input %x : float32[2]
  input %unused : float32[2]
  %c = constant() {} : float32[2] data=[1, 2]
  %a = elementwise(%x, %c) {op="sum"}
  %b = unary(%a) {op="neg"}
  %y = unary(%x) {op="abs"}
  output "y" %y
})",
                R"(network "n" () {
  input %x : float32[2]
  input %unused : float32[2]
  %y = unary(%x) {op="abs"}
  output "y" %y
})");
}

TEST(RemoveDeadLayers, NotALayerWithOneOutputRead) {
  expectKept("remove_dead_layers", R"(network "n" () {
  input %x : float32[4]
  %v, %i = topk(%x) {k=[2], axis=0}
  output "i" %i
})");
}

}  // namespace
}  // namespace torchtrt::optimization::testing
