#include <torch/csrc/jit/ir/constants.h>

#include "lowering/graph_walk.h"
#include "lowering/passes/passes.h"

namespace torchtrt::lowering {
namespace {

using torch::jit::IValue;
using torch::jit::Node;
using torch::jit::Value;

struct Pooled {
  IValue constant;
  Value* value;
};

// Tensors are left alone: comparing weights costs more than finding equal ones gives, and plans deduplicate them by
// content.
bool canPool(const IValue& constant) {
  return constant.isNone() || constant.isBool() || constant.isInt() || constant.isDouble() || constant.isString() ||
         constant.isIntList() || constant.isDevice();
}

bool same(const Pooled& pooled, const IValue& constant, const c10::TypePtr& type) {
  return pooled.constant.tagKind() == constant.tagKind() && *pooled.value->type() == *type &&
         pooled.constant == constant;
}

}  // namespace

bool poolConstants(const GraphPtr& graph) {
  bool changed = false;
  std::vector<Pooled> pool;
  forEachNode(graph->block(), [&](Node* node) {
    if (node->kind() != torch::jit::prim::Constant) {
      return;
    }
    const auto constant = torch::jit::toIValue(node->output());
    if (!constant || !canPool(*constant)) {
      return;
    }
    for (const Pooled& pooled : pool) {
      if (same(pooled, *constant, node->output()->type())) {
        node->output()->replaceAllUsesWith(pooled.value);
        node->destroy();
        changed = true;
        return;
      }
    }
    if (pool.empty() ? *graph->block()->nodes().begin() != node : pool.back().value->node()->next() != node) {
      pool.empty() ? node->moveBefore(*graph->block()->nodes().begin()) : node->moveAfter(pool.back().value->node());
      changed = true;
    }
    pool.push_back({*constant, node->output()});
  });
  return changed;
}

}  // namespace torchtrt::lowering
