// The arguments of one call, with which a compiled module is held against PyTorch: the user's samples, or tensors made
// within what the Inputs say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <torch/script.h>

#include "compiler/inputs/input_specs.h"
#include "lowering/lowering.h"

namespace torchtrt::compiler {

struct TrialCall {
  std::vector<torch::jit::IValue> arguments;
  bool is_made_up = false;  // the module may refuse what nobody said that it takes

  std::string describe() const {
    return is_made_up ? "inputs made within what the Inputs say" : "the sample inputs";
  }
};

// Its tensors are on the CPU. Returns nothing where an argument is unknown or very large, or where a call would show
// outside of the module.
std::optional<TrialCall> madeUpCall(const lowering::LoweredGraph& lowered, const InputLeaves& leaves,
                                    DataType precision);

}  // namespace torchtrt::compiler
