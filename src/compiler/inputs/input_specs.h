// Matches what the user said of the inputs to what a lowered method takes: one leaf per tensor, reached from an
// argument through tuples, lists and dictionaries.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lowering/lowering.h"
#include "torchtrt/export.h"
#include "torchtrt/options.h"
#include "torchtrt/types.h"

namespace torchtrt::compiler {

// An argument's number, then positions in the collections inside of it.
using LeafPath = std::vector<int64_t>;
LeafPath below(LeafPath path, size_t place);

struct InputLeaf {
  std::string name;  // "x", or "x_0_1" inside of collections
  const Input* input = nullptr;
  Dims dims;  // symbolic where the range is dynamic
};

struct InputLeaves {
  std::map<LeafPath, InputLeaf> leaves;
  std::map<LeafPath, torch::jit::IValue> values;             // examples of what is no tensor, None included
  std::map<LeafPath, size_t> lengths;                        // of tuples and lists
  std::map<LeafPath, std::vector<torch::jit::IValue>> keys;  // of dictionaries; the path goes on with a key's place
  std::vector<Symbol> symbols;
  std::map<std::string, int64_t> sample_sizes;  // of the symbols, where the user's samples have them
  std::map<std::string, std::string> guessed;   // symbols that stand for several sizes of inputs by a guess, and why
  size_t first_argument = 0;  // the number of the graph's input that is argument 0: 1 behind the module
};

// Throws CompileError(kInvalidInputSpec) where number or nesting do not fit the method. The leaves point into `inputs`.
TORCHTRT_API InputLeaves matchInputs(const GraphInputs& inputs, const lowering::LoweredGraph& lowered);

// Returns the argument, or its part, that feeds a value of the lowered graph; null if none does.
TORCHTRT_API const InputLeaf* findLeaf(const InputLeaves& leaves, const torch::jit::Value& value);
// A dtype that the user left open is taken from the first use of the value; where that is floating, `open_dtype`
// replaces it unless it is kUnknown.
TORCHTRT_API DType dtypeFor(const InputLeaf& leaf, const torch::jit::Value& value, DataType open_dtype);

}  // namespace torchtrt::compiler
