// Nodes that move tensors about in collections, whatever those are.
#pragma once

#include <torch/script.h>

namespace torchtrt::conversion {

// Puts collections together or takes them apart.
inline bool movesElements(const torch::jit::Node& node) {
  namespace prim = torch::jit::prim;
  return node.kind() == prim::ListConstruct || node.kind() == prim::TupleConstruct || node.kind() == prim::ListUnpack ||
         node.kind() == prim::TupleUnpack || node.kind() == prim::TupleIndex || node.kind() == prim::unchecked_cast;
}

}  // namespace torchtrt::conversion
