#include "compiler/checking/trial_call.h"

#include <set>
#include <string>
#include <utility>

#include "base/logging.h"
#include "compiler/inputs/example_arguments.h"
#include "compiler/inputs/example_sizes.h"
#include "compiler/reports/segment_report.h"
#include "lowering/graph_walk.h"

namespace torchtrt::compiler {

namespace {

using torch::jit::Node;

// A node that prints, writes files, or may do so: a call that nobody asked for must not. Null if there is none.
const Node* effectIn(torch::jit::Graph& graph) {
  static const std::set<std::string> harmless = {"prim::SetAttr",
                                                 "prim::RaiseException",
                                                 "prim::Enter",
                                                 "prim::Exit",
                                                 "aten::warn",
                                                 "aten::is_autocast_enabled",
                                                 "aten::is_autocast_cpu_enabled",
                                                 "aten::is_grad_enabled"};
  const Node* found = nullptr;
  lowering::forEachNode(graph.block(), [&](const Node* node) {
    if (found == nullptr && node->hasSideEffects() && harmless.count(node->kind().toQualString()) == 0) {
      found = node;
    }
  });
  return found;
}

}  // namespace

std::optional<TrialCall> madeUpCall(const lowering::LoweredGraph& lowered, const InputLeaves& leaves,
                                    DataType precision) {
  if (const Node* effect = effectIn(*lowered.graph)) {
    TORCHTRT_LOG(kDEBUG, "results are not compared with PyTorch: " << describe(*effect)
                                                                   << " may have effects outside of the module");
    return std::nullopt;
  }
  TrialCall call{{}, true};
  for (auto& argument : makeArguments(lowered, leaves, precision, {}, {optimumSizes(leaves), true})) {
    if (!argument) {
      TORCHTRT_LOG(kDEBUG, "results are not compared with PyTorch: an argument is unknown or very large");
      return std::nullopt;
    }
    call.arguments.push_back(std::move(*argument));
  }
  try {
    lowered.schema.checkAndNormalizeInputs(call.arguments);
  } catch (const c10::Error&) {  // a graph may say of which dtype and sizes its inputs are, and the Inputs others
    TORCHTRT_LOG(kDEBUG, "results are not compared with PyTorch: the method does not take what the Inputs say");
    return std::nullopt;
  }
  return call;
}

}  // namespace torchtrt::compiler
