// Runs the lowered graph on example arguments, so that the types of what PyTorch's segments give are known. The
// arguments are the user's samples, or are made within what the Inputs say: shape range, dtype and tensor domain.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/inputs/input_specs.h"
#include "compiler/inputs/size_relations.h"
#include "lowering/lowering.h"
#include "partitioning/observation.h"

namespace torchtrt::compiler {

struct ExampleRuns {
  std::unique_ptr<partitioning::Observations> observations;
  std::vector<RunSizes> sizes_of_symbols;                   // by run
  std::unique_ptr<partitioning::Observations> first_calls;  // where calls leave state in the module, else null
};

// Runs the graph several times if dimensions are dynamic, with different sizes; lists are longer in one run. If a run
// fails because dimensions of one range differ, they are taken to be one (`size_guesses`). `self` is the module, None
// if the graph takes none. It is not changed, and lies on `device`, as the runs do. If calls leave state in the module,
// the second call of a copy is observed, and the third of another one.
ExampleRuns runExamples(const lowering::LoweredGraph& lowered, const partitioning::Roles& roles, InputLeaves& leaves,
                        DataType open_dtype, const torch::jit::IValue& self,
                        const std::vector<torch::jit::IValue>& samples, const at::Device& device = at::kCPU);

}  // namespace torchtrt::compiler
