// Arguments for example runs: the user's samples, or tensors made within what the Inputs say, of any sizes.
#pragma once

#include <optional>
#include <vector>

#include "compiler/inputs/input_specs.h"
#include "compiler/inputs/size_relations.h"
#include "lowering/lowering.h"

namespace torchtrt::compiler {

struct WantedArguments {
  RunSizes sizes;
  bool with_samples = false;       // where Inputs were made of tensors
  bool with_longer_lists = false;  // by an element, of the optimum's sizes
  // The size that whole numbers say, by vectors and scalars of an open domain: such are lengths of what is padded.
  std::optional<Dim> length = std::nullopt;
};

// Nothing stands for an argument of which nothing is known. Elements are the samples' over and over where there are
// samples; else random numbers of the Input's domain, or, where that is open, rows of the table that they pick from.
std::vector<std::optional<torch::jit::IValue>> makeArguments(const lowering::LoweredGraph& lowered,
                                                             const InputLeaves& leaves, DataType open_dtype,
                                                             const std::vector<torch::jit::IValue>& samples,
                                                             const WantedArguments& wanted);
// True if an argument is a list that may be of any length.
bool hasOpenLists(const lowering::LoweredGraph& lowered, const InputLeaves& leaves);
// Sizes that such numbers may say: dims of other inputs behind the first, dynamic ones first. None where no input is
// such numbers.
std::vector<Dim> possibleLengths(const lowering::LoweredGraph& lowered, const InputLeaves& leaves, DataType open_dtype);
// The sizes that the symbols have in the samples.
RunSizes sizesInSamples(const InputLeaves& leaves, const std::vector<torch::jit::IValue>& samples);

}  // namespace torchtrt::compiler
