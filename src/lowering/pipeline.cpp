#include <algorithm>
#include <chrono>
#include <cmath>
#include <regex>
#include <set>
#include <string>
#include <string_view>

#include "base/checkpoint.h"
#include "base/logging.h"
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

void runPass(const Pass& pass, const GraphPtr& graph, const LoweringOptions& options) {
  const auto& disabled = options.disabled_passes;
  if (std::find(disabled.begin(), disabled.end(), pass.name) != disabled.end()) {
    return;
  }
  checkpoint();
  const auto begin = std::chrono::steady_clock::now();
  const bool changed = pass.run(graph);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  TORCHTRT_LOG(kDEBUG, "lowering: " << pass.name << (changed ? " changed the graph" : " changed nothing") << " in "
                                    << std::lround(time.count()) << " ms");
  if (options.verify && changed) {
    verify(*graph, pass.name);
  }
  if (!options.dump_after.empty() && std::regex_search(pass.name, std::regex(options.dump_after))) {
    TORCHTRT_LOG(kGRAPH, "after " << pass.name << ":\n" << graph->toString());
  }
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

// Functions may compute gradients, too; the other passes take a graph for one without.
constexpr std::string_view kInlining = "inline-calls";
// After which equal computations become one, which they are not where their precisions differ.
constexpr std::string_view kLastBeforePins = "normalize-views";

// Before which writes to the module's own tensors have to be gone, as far as they go.
constexpr std::string_view kFirstBehindState = "functionalize-views";

void runPipeline(LoweredGraph* lowered, const LoweringOptions& options, const std::set<std::string>& tensors_apart) {
  for (const Pass& pass : pipeline()) {
    if (!lowered->computes_gradients) {
      if (pass.name == kFirstBehindState && !tensors_apart.empty() &&
          functionalizeState(lowered->graph, tensors_apart) && options.verify) {
        verify(*lowered->graph, "functionalize-state");
      }
      runPass(pass, lowered->graph, options);
    }
    lowered->computes_gradients |= pass.name == kInlining && computesGradients(*lowered->graph);
    if (pass.name == kLastBeforePins && !options.precision.pins.empty()) {
      lowered->pinned = pinPrecisions(lowered->graph, options.precision);
      if (options.verify) {
        verify(*lowered->graph, "pin-precisions");
      }
    }
  }
  ownCallStacks(*lowered->graph->block());
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
      {"inline-calls", "functions, methods, fork and wait become part of the graph", inlineCalls},
      {"lower-contexts", "autocast becomes casts; no_grad and record_function are dropped", lowerContexts},
      {"sink-constructions", "lists and tuples are made right before what reads them", sinkConstructions},
      {"leave-onednn-tensors", "what optimize_for_inference made for oneDNN's layouts becomes what it was",
       leaveOneDnnTensors},
      {"inline-recorded-functions", "a torch.autograd.Function in a trace becomes what its forward computed",
       inlineRecordedFunctions},
      {"erase-traced-shapes", "forgets what a trace recorded about its example inputs", eraseTracedShapes},
      {"normalize-casts", "type_as becomes to, whose schema tells that it may give its operand", normalizeCasts},
      {"remove-exceptions", "drops branches that raise", removeExceptions},
      {"remove-warnings", "drops aten::warn and logs its text", removeWarnings},
      {"fold-identities", "computes `is` of tensors, and of values and None, as far as that is known", foldIdentities},
      {"fold-constants", "computes what depends on constants alone", foldConstants},
      {"unroll-loops", "repeats bodies with a constant number of trips", unrollLoops},
      {"fold-unrolled-constants", "computes what unrolling made constant", foldConstants},
      {"remove-dropout", "drops dropout with train=False", removeDropout},
      {"functionalize-lists", "writes to lists become the construction of the next list", functionalizeLists},
      {"sink-new-constructions", "those that took the place of writes to lists too", sinkConstructions},
      {"fold-remaining-identities", "computes `is` where folding, unrolling and lists without writes left one answer",
       foldIdentities},
      {"functionalize-views", "writes to a tensor that is known under all of its names make the next tensor",
       functionalizeViews},
      {"functionalize-tensors", "in-place operators become functional ones where provably the same",
       functionalizeTensors},
      {"lower-remaining-contexts", "no_grad around writes that have become functional", lowerContexts},
      {"branch-on-attention-arguments", "attention whose mask or causality a run decides becomes one node for each",
       branchOnAttentionArguments},
      {"flatten-branch-tuples", "branches give elements, and tuples are made behind them", flattenBranchTuples},
      {"lower-tuples", "drops tuples that are built and taken apart", lowerTuples},
      {"simplify", "libtorch's peepholes that need no shapes", simplify},
      {"remove-no-ops", "drops detach, contiguous, clone and the like", removeNoOps},
      {"normalize-convolution", "every convolution becomes conv1d, 2d, 3d or conv_transpose1d, 2d, 3d",
       normalizeConvolution},
      {"normalize-linear", "addmm and matmul + add become linear", normalizeLinear},
      {"normalize-batch-norm", "every batch normalisation becomes batch_norm", normalizeBatchNorm},
      {"normalize-views", "view and its relatives become reshape", normalizeViews},
      {"lower-quantized", "quantized operators become float ones on integers, where that is exact", lowerQuantized},
      {"fold-remaining-constants", "computes what the rewrites made constant", foldConstants},
      {"pool-constants", "one node per number, string, list or None", poolConstants},
      {"eliminate-common-subexpressions", "one node per computation", eliminateCommonSubexpressions},
      {"eliminate-dead-code", "drops what nobody reads", eliminateDeadCode},
  };
  return passes;
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
  lowered.has_self = freezeAttributes(lowered.graph, module, method, options.keep_state);
  if (options.verify) {
    verify(*lowered.graph, "freeze-attributes");
  }
  runPipeline(&lowered, options, lowered.has_self ? tensorsApart(module) : std::set<std::string>());
  return lowered;
}

LoweredGraph lower(const std::shared_ptr<Graph>& graph, const LoweringOptions& options) {
  checkPassNames(options);
  LoweredGraph lowered{graph->copy(), schemaOf(*graph), "", false, false, {}};
  runPipeline(&lowered, options, {});
  return lowered;
}

}  // namespace torchtrt::lowering
