// All that a module compiled with `refit` was compiled of, except its parameters: saved with it, so that a process that
// has the file alone can compile other weights to the same partition.
#pragma once

#include <string>

#include <torch/script.h>

#include "compiler/compile.h"
#include "compiler/updates/choices.h"
#include "torchtrt/options.h"

namespace torchtrt::compiler {

struct Recipe {
  torch::jit::Module module;  // on the CPU, with buffers; a parameter is one element that stands for all
  std::string method;
  ts::CompileSpec spec;
  Choices choices;
  std::string code;  // a hash of the compiled method's graph, see hashOfMethod()
};

// Of the graph as text: values of weights do not count, since all are in the weight set.
std::string hashOfMethod(const torch::jit::Module& compiled, const std::string& method);

// A module as an update will read it, which may order its code in another way than it was written.
struct StoredSource {
  Source source;        // with the tensors of the original
  std::string archive;  // with stand-ins for its parameters
};
// Throws CompileError(kInvalidOption) for a source without parameters and buffers, which no update could name.
StoredSource stored(const Source& source);

std::string serialize(const StoredSource& stored, ts::CompileSpec spec, const Choices& choices,
                      const std::string& code);
// Throws EngineError(kPlanCorrupt) for other bytes.
Recipe parseRecipe(const std::string& bytes);

}  // namespace torchtrt::compiler
