// Prepares a module before lowering: weights cast to the requested precision, and the method as something that can be
// run.
#pragma once

#include <vector>

#include "compiler/compile.h"
#include "lowering/lowering.h"

namespace torchtrt::compiler {

// Parameters and buffers.
std::vector<at::Tensor> tensorsOf(const torch::jit::Module& module);
// The dtype that floating weights are cast to: op_precision, or a reduced precision that is enabled and that an input
// has.
DataType weightPrecision(const ts::CompileSpec& spec);
// A source with floating parameters and buffers cast, as module.half() does, except for those of modules that
// spec.precision pins; the same one where nothing is asked for.
Source withPrecision(const Source& source, const ts::CompileSpec& spec);

// Or hooks, that read or write the module: the compiled one has them, too, and then attributes that may be its engines'
// weights. nn.Sequential's __len__ returns a number.
bool hasOtherMethods(const Source& source, bool keep_methods);
// A source of our own, so that nobody changes what engines, kept segments and carried attributes share.
Source owned(const Source& source);

// The method with all that it calls, before any other rewrite.
std::shared_ptr<torch::jit::Graph> inlinedGraph(const Source& source);
// A copy of a module that shares what is large: its tensors, and objects such as the packed weights of quantized
// modules.
torch::jit::IValue sharingTensors(const torch::jit::IValue& module);

// Lowers the method. With options.keep_state, attributes that it writes stay in the graph, which then takes the module
// first.
lowering::LoweredGraph lower(const Source& source, lowering::LoweringOptions options = {});

// Returns the arguments of the lowered method's graph: with the module in front and with defaults, if it takes them.
torch::jit::Stack argumentsOf(const Source& source, const lowering::LoweredGraph& lowered,
                              std::vector<torch::jit::IValue> arguments);
// Returns PyTorch's results for these arguments. It runs the lowered method if nodes are pinned to a precision that the
// module knows nothing of.
torch::jit::IValue run(const Source& source, const lowering::LoweredGraph& lowered,
                       std::vector<torch::jit::IValue> arguments);

// Marks the weights that lie in the module's own tensors, if there is a module: engines never change, so they keep none
// of these.
std::vector<bool> borrowedFrom(const torch::jit::IValue& module, const std::vector<at::Tensor>& weights);
// Copies the constants of PyTorch's segments out of the module.
void ownConstants(torch::jit::Block& block);

}  // namespace torchtrt::compiler
