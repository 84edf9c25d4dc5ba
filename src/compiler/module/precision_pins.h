// CompileSpec::precision against the module: whether its patterns name anything, which weights pins own, and what
// lowering is told.
#pragma once

#include <memory>
#include <vector>

#include "compiler/compile.h"
#include "lowering/lowering.h"

namespace torchtrt::compiler {

// Throws CompileError for a dtype that cannot be pinned, and for a pattern that names no module, with what is near.
void checkPins(const ts::CompileSpec& spec, const torch::jit::Module* module);

// An op_precision that no input has and some are declared not to have: inputs stay as declared, and all of the module
// is pinned to it instead. The same options where there is nothing to settle; throws CompileError for a float64 among
// them.
ts::CompileSpec keepingInputs(const ts::CompileSpec& spec, const torch::jit::Module* module);

// Parameters and buffers of pinned modules, which are not cast to the precision of the rest.
std::vector<at::Tensor> pinnedTensors(const ts::CompileSpec& spec, const torch::jit::Module& module);

// Returns the pins of the module with its weights cast to `precision`, if that is known. Throws CompileError if it is
// not and the weights have several floating dtypes.
lowering::PrecisionPins pinsFor(const ts::CompileSpec& spec, const Source& source, DataType precision);

// Returns the effect of each pin, and warns of a pin without any node.
std::vector<Report::Pin> pinsOf(const ts::CompileSpec& spec, const lowering::LoweredGraph& lowered);

}  // namespace torchtrt::compiler
