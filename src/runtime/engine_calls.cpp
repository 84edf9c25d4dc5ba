#include "runtime/engine_calls.h"

#include <algorithm>
#include <iterator>

#include "runtime/execute.h"
#include "runtime/weight_set.h"

namespace torchtrt::runtime {

bool isEngineCall(const torch::jit::Node& node) {
  static const c10::Symbol symbol = c10::Symbol::fromQualString(kExecuteEngine);
  return node.kind() == symbol;
}

bool isUpdatingCall(const torch::jit::Node& node) {
  static const c10::Symbol symbol = c10::Symbol::fromQualString(kUpdateByEngine);
  return node.kind() == symbol;
}

bool onlyGathers(const torch::jit::Node& node) {
  namespace prim = torch::jit::prim;
  constexpr c10::Symbol kAround[] = {prim::GetAttr,        prim::Constant,    prim::ListConstruct,
                                     prim::TupleConstruct, prim::TupleUnpack, prim::ListUnpack};
  return takesWeights(node) || std::find(std::begin(kAround), std::end(kAround), node.kind()) != std::end(kAround);
}

}  // namespace torchtrt::runtime
