// Matches what the user said of the inputs to what a lowered method takes: one leaf per tensor, reached from an
// argument through tuples and lists. Out comes what conversion needs for every engine segment that reads the arguments.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conversion/conversion.h"
#include "lowering/lowering.h"
#include "partitioning/partition.h"
#include "torchtrt/options.h"

namespace torchtrt::compiler {

// An argument's number, then positions in the collections inside of it.
using LeafPath = std::vector<int64_t>;

struct InputLeaf {
  std::string name;  // "x", or "x_0_1" inside of collections
  const Input* input = nullptr;
  Dims dims;  // symbolic where the range is dynamic
};

struct InputLeaves {
  std::map<LeafPath, InputLeaf> leaves;
  std::vector<Symbol> symbols;
};

// Throws CompileError(kInvalidInputSpec) where number or nesting do not fit the method. The leaves point into `inputs`.
InputLeaves matchInputs(const GraphInputs& inputs, const lowering::LoweredGraph& lowered);

// What a value of the lowered graph is fed from; throws CompileError(kInvalidInputSpec) where no specification says.
const InputLeaf& leafOf(const InputLeaves& leaves, const torch::jit::Value& value);

// Fills the inputs and symbols of a request for a segment whose inputs all come from the arguments. A dtype that the
// user left open is taken from the first use; where that is floating, `open_dtype` replaces it unless it is kUnknown.
void describeInputs(const InputLeaves& leaves, const partitioning::Segment& segment, DataType open_dtype,
                    conversion::ConversionRequest& request);

}  // namespace torchtrt::compiler
