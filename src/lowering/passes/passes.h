// The rewrites of lowering, one file each. All return whether they changed the graph. Except where said, a graph means
// the same before and after, for PyTorch's interpreter too.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <torch/script.h>

namespace torchtrt::lowering {

using GraphPtr = std::shared_ptr<torch::jit::Graph>;

// Replaces reads of the module's attributes by constants and drops the first input, which is the module. Throws
// CompileError(kInvalidModule) where an attribute is written or cannot be a constant; with keep_state, the first input
// and the reads and writes of such attributes stay, as do reads of what the module's other methods write. Whether they
// did.
bool freezeAttributes(const GraphPtr& graph, const torch::jit::Module& module, const std::string& method,
                      bool keep_state);

// Calls of methods of modules that are read from the first input; nodes then know the whole path of their module.
bool inlineMethods(const GraphPtr& graph);

// Writes to those tensors of the module, by name, become copies of what functional operators compute.
bool functionalizeState(const GraphPtr& graph, const std::set<std::string>& tensors_apart);
// The same for arguments, all of which are taken to lie apart. Returns the positions of the arguments that are written.
std::vector<size_t> functionalizeArguments(const GraphPtr& graph);

bool inlineCalls(const GraphPtr& graph);                 // functions, methods, fork and wait
bool lowerContexts(const GraphPtr& graph);               // `with` autocast becomes casts, no_grad and profiles go
bool leaveOneDnnTensors(const GraphPtr& graph);          // those of optimize_for_inference; rounding differs
bool inlineRecordedFunctions(const GraphPtr& graph);     // torch.autograd.Function, by what a trace recorded of it
bool eraseTracedShapes(const GraphPtr& graph);           // tensor types that a trace recorded for its example inputs
bool removeExceptions(const GraphPtr& graph);            // a branch that raises is taken to be never taken
bool removeWarnings(const GraphPtr& graph);              // logs their text instead
bool foldIdentities(const GraphPtr& graph);              // `is` and `is not` of tensors, and of values and None
bool foldConstants(const GraphPtr& graph);               // with branches whose condition is constant
bool unrollLoops(const GraphPtr& graph);                 // with a constant number of trips
bool branchOnAttentionArguments(const GraphPtr& graph);  // whether there is a mask, a causal one, where a run decides
bool removeDropout(const GraphPtr& graph);               // where train is false
bool functionalizeLists(const GraphPtr& graph);          // append, item assignment, ... on lists that have one name
bool sinkConstructions(const GraphPtr& graph);           // lists and tuples to right before what reads them
bool functionalizeViews(const GraphPtr& graph);          // writes to what is known under all of its names
bool functionalizeTensors(const GraphPtr& graph);        // relu_, add_, ... where nobody can see the difference
bool flattenBranchTuples(const GraphPtr& graph);  // branches give the elements, and the tuple is made behind them
bool lowerTuples(const GraphPtr& graph);
bool simplify(const GraphPtr& graph);              // libtorch's peepholes that need no shapes
bool removeNoOps(const GraphPtr& graph);           // detach, contiguous, clone and the like
bool normalizeConvolution(const GraphPtr& graph);  // to conv1d, conv2d, conv3d and conv_transpose1d, 2d, 3d
bool normalizeLinear(const GraphPtr& graph);       // addmm and matmul + add to linear
bool normalizeBatchNorm(const GraphPtr& graph);    // to batch_norm
bool normalizeViews(const GraphPtr& graph);        // to reshape
bool normalizeCasts(const GraphPtr& graph);        // type_as to to, whose schema says that it may be its operand
bool lowerQuantized(const GraphPtr& graph);        // quantized operators to float ones on integers, to the bit
bool poolConstants(const GraphPtr& graph);         // one node per number, string, list or None, at the top of the graph
bool eliminateCommonSubexpressions(const GraphPtr& graph);
// The same where tensors that hold equal bytes in two places are two.
bool eliminateCommonSubexpressionsByAddress(const GraphPtr& graph);
bool eliminateDeadCode(const GraphPtr& graph);

}  // namespace torchtrt::lowering
