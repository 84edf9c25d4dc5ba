#include <algorithm>
#include <set>
#include <string>

#include "base/dump.h"
#include "base/logging.h"
#include "base/pass_run.h"
#include "lowering/call_stacks.h"
#include "lowering/graph_walk.h"
#include "lowering/lowering.h"
#include "lowering/memory/state_memory.h"
#include "lowering/pass.h"
#include "lowering/passes/passes.h"
#include "lowering/verify.h"
#include "torchtrt/error.h"

namespace torchtrt::lowering {
namespace {

using torch::jit::Graph;
using torch::jit::Module;

// "LeNet.forward" of "__torch__.LeNet".
std::string nameOf(const LoweredGraph& lowered) {
  const size_t dot = lowered.module_name.rfind('.');
  const std::string name = dot == std::string::npos ? lowered.module_name : lowered.module_name.substr(dot + 1);
  return name.empty() ? lowered.schema.name() : name + "." + lowered.schema.name();
}

void runPass(const Pass& pass, Lowering& lowering) {
  const LoweringOptions& options = lowering.options;
  const auto& disabled = options.disabled_passes;
  // A method that computes gradients stays in PyTorch: rewrites of the graph alone leave it as it is.
  const bool applies = pass.run_with != nullptr || !lowering.lowered.computes_gradients;
  if (!applies || std::find(disabled.begin(), disabled.end(), pass.name) != disabled.end()) {
    return;
  }
  const GraphPtr& graph = lowering.lowered.graph;
  PassRun run{"torchscript", nameOf(lowering.lowered), pass.name, [&] { return graph->toString(); }};
  if (options.verify) {
    run.verify = [&] { verify(*graph, pass.name); };
  }
  run.dump_after = options.dump_after;
  run.dump = [&](const std::string& text) { TORCHTRT_LOG(kGRAPH, "after " << pass.name << ":\n" << text); };
  torchtrt::runPass(run, [&] { return pass.run_with != nullptr ? pass.run_with(lowering) : pass.run(graph); });
}

void checkPassNames(const LoweringOptions& options) {
  for (const std::string& name : options.disabled_passes) {
    if (!findPass(name)) {
      throw CompileError(ErrorCode::kInvalidOption, "no lowering pass is named '" + name + "'", {},
                         "src/lowering/pipeline.cpp lists the passes");
    }
  }
}

c10::FunctionSchema withoutSelf(const c10::FunctionSchema& schema) {
  std::vector<c10::Argument> arguments(schema.arguments().begin() + 1, schema.arguments().end());
  return schema.cloneWithArguments(std::move(arguments));
}

c10::FunctionSchema schemaOf(const Graph& graph) {
  std::vector<c10::Argument> arguments, returns;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    arguments.emplace_back("input_" + std::to_string(i), graph.inputs()[i]->type());
  }
  for (const torch::jit::Value* output : graph.outputs()) {
    returns.emplace_back("", output->type());
  }
  return c10::FunctionSchema("forward", "", std::move(arguments), std::move(returns));
}

// Attributes become constants: the only pass that looks at the module's type.
bool freezeAttributesOf(Lowering& lowering) {
  if (lowering.module == nullptr) {
    return false;
  }
  LoweredGraph& lowered = lowering.lowered;
  lowered.has_self = freezeAttributes(lowered.graph, *lowering.module, lowering.method, lowering.options.keep_state);
  lowering.tensors_apart = lowered.has_self ? tensorsApart(*lowering.module) : std::set<std::string>();
  return true;
}

// The passes behind it take a graph for one without gradients.
bool inlineCallsOf(Lowering& lowering) {
  const bool changed = inlineCalls(lowering.lowered.graph);
  lowering.lowered.computes_gradients = computesGradients(*lowering.lowered.graph);
  return changed;
}

bool functionalizeStateOf(Lowering& lowering) {
  return !lowering.lowered.computes_gradients && !lowering.tensors_apart.empty() &&
         functionalizeState(lowering.lowered.graph, lowering.tensors_apart);
}

// A tensor of the module may be an argument, too, so the module may have none that change.
bool functionalizeArgumentsOf(Lowering& lowering) {
  LoweredGraph& lowered = lowering.lowered;
  if (!lowering.options.arguments_apart || lowered.has_self || lowered.computes_gradients) {
    return false;
  }
  lowered.written_arguments = functionalizeArguments(lowered.graph);
  return !lowered.written_arguments.empty();
}

bool pinPrecisionsOf(Lowering& lowering) {
  if (lowering.options.precision.pins.empty()) {
    return false;
  }
  lowering.lowered.pinned = pinPrecisions(lowering.lowered.graph, lowering.options.precision);
  return true;
}

bool eliminateCommonSubexpressionsOf(Lowering& lowering) {
  const auto eliminate =
      lowering.options.weights_may_change ? eliminateCommonSubexpressionsByAddress : eliminateCommonSubexpressions;
  return eliminate(lowering.lowered.graph);
}

void runPipeline(Lowering lowering) {
  for (const Pass& pass : pipeline()) {
    runPass(pass, lowering);
  }
  ownCallStacks(*lowering.lowered.graph->block());
  if (dump::isOn()) {
    dump::write("torchscript", nameOf(lowering.lowered), "lowered", lowering.lowered.graph->toString());
  }
}

}  // namespace

void checkEvalMode(const Module& module) {
  for (const auto& child : module.named_modules()) {
    if (child.value.hasattr("training") && child.value.attr("training").toBool()) {
      const std::string which = child.name.empty() ? "the module" : "submodule '" + child.name + "'";
      throw CompileError(ErrorCode::kInvalidModule, which + " is in training mode, expected evaluation mode", {},
                         "call eval() on the module first");
    }
  }
}

// A few rewrites open the way for others, so the list has some of them twice.
const std::vector<Pass>& pipeline() {
  static const std::vector<Pass> passes = {
      {"freeze_attributes", "attributes of the module become constants", nullptr, freezeAttributesOf},
      {"inline_calls", "functions, methods, fork and wait become part of the graph", inlineCalls, inlineCallsOf},
      {"lower_contexts", "autocast becomes casts; no_grad and record_function are dropped", lowerContexts},
      {"sink_constructions", "lists and tuples are made right before what reads them", sinkConstructions},
      {"leave_onednn_tensors", "what optimize_for_inference made for oneDNN's layouts becomes what it was",
       leaveOneDnnTensors},
      {"inline_recorded_functions", "a torch.autograd.Function in a trace becomes what its forward computed",
       inlineRecordedFunctions},
      {"erase_traced_shapes", "forgets what a trace recorded about its example inputs", eraseTracedShapes},
      {"normalize_casts", "type_as becomes to, whose schema tells that it may give its operand", normalizeCasts},
      {"remove_exceptions", "drops branches that raise", removeExceptions},
      {"remove_warnings", "drops aten::warn and logs its text", removeWarnings},
      {"fold_identities", "computes `is` of tensors, and of values and None, as far as that is known", foldIdentities},
      {"fold_constants", "computes what depends on constants alone", foldConstants},
      {"unroll_loops", "repeats bodies with a constant number of trips", unrollLoops},
      {"fold_unrolled_constants", "computes what unrolling made constant", foldConstants},
      {"remove_dropout", "drops dropout with train=False", removeDropout},
      {"functionalize_lists", "writes to lists become the construction of the next list", functionalizeLists},
      {"sink_new_constructions", "those that took the place of writes to lists too", sinkConstructions},
      {"fold_remaining_identities", "computes `is` where folding, unrolling and lists without writes left one answer",
       foldIdentities},
      {"functionalize_state", "writes to tensors of the module that have no other name make the next tensor", nullptr,
       functionalizeStateOf},
      {"functionalize_arguments", "writes to arguments that lie apart from all others make the next tensor", nullptr,
       functionalizeArgumentsOf},
      {"functionalize_views", "writes to a tensor that is known under all of its names make the next tensor",
       functionalizeViews},
      {"functionalize_tensors", "in-place operators become functional ones where provably the same",
       functionalizeTensors},
      {"lower_remaining_contexts", "no_grad around writes that have become functional", lowerContexts},
      {"branch_on_attention_arguments", "attention whose mask or causality a run decides becomes one node for each",
       branchOnAttentionArguments},
      {"flatten_branch_tuples", "branches give elements, and tuples are made behind them", flattenBranchTuples},
      {"lower_tuples", "drops tuples that are built and taken apart", lowerTuples},
      {"simplify", "libtorch's peepholes that need no shapes", simplify},
      {"remove_no_ops", "drops detach, contiguous, clone and the like", removeNoOps},
      {"normalize_convolution", "every convolution becomes conv1d, 2d, 3d or conv_transpose1d, 2d, 3d",
       normalizeConvolution},
      {"normalize_linear", "addmm and matmul + add become linear", normalizeLinear},
      {"normalize_batch_norm", "every batch normalisation becomes batch_norm", normalizeBatchNorm},
      {"normalize_views", "view and its relatives become reshape", normalizeViews},
      {"pin_precisions", "nodes of modules whose precision the user pins compute in it", nullptr, pinPrecisionsOf},
      {"lower_quantized", "quantized operators become float ones on integers, where that is exact", lowerQuantized},
      {"fold_remaining_constants", "computes what the rewrites made constant", foldConstants},
      {"pool_constants", "one node per number, string, list or None", poolConstants},
      {"eliminate_common_subexpressions", "one node per computation", eliminateCommonSubexpressions,
       eliminateCommonSubexpressionsOf},
      {"eliminate_dead_code", "drops what nobody reads", eliminateDeadCode},
  };
  return passes;
}

std::string pipelineMarkdown() {
  std::string text =
      "## Passes over TorchScript\n\n"
      "Lowering runs these passes over a method's graph, once and in order. They are the list in "
      "`src/lowering/pipeline.cpp`.\n\n";
  for (const Pass& pass : pipeline()) {
    text += "- `" + std::string(pass.name) + "`: " + pass.meaning + "\n";
  }
  return text;
}

const Pass* findPass(const std::string& name) {
  for (const Pass& pass : pipeline()) {
    if (pass.name == name) {
      return &pass;
    }
  }
  return nullptr;
}

LoweredGraph lower(const Module& module, const std::string& method, const LoweringOptions& options) {
  checkPassNames(options);
  const auto found = module.find_method(method);
  if (!found) {
    throw CompileError(ErrorCode::kInvalidModule, "module " + module.type()->str() + " has no method '" + method + "'",
                       {}, "name a method that the module was scripted or traced with");
  }
  checkEvalMode(module);
  LoweredGraph lowered{found->graph()->copy(),
                       withoutSelf(found->function().getSchema()),
                       module.type()->name() ? module.type()->name()->qualifiedName() : module.type()->str(),
                       false,
                       false,
                       {}};
  runPipeline({lowered, options, &module, method, {}});
  return lowered;
}

LoweredGraph lower(const std::shared_ptr<Graph>& graph, const LoweringOptions& options) {
  checkPassNames(options);
  LoweredGraph lowered{graph->copy(), schemaOf(*graph), "", false, false, {}};
  runPipeline({lowered, options, nullptr, "", {}});
  return lowered;
}

}  // namespace torchtrt::lowering
