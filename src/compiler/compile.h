// The whole way from a method to a module with engines: every phase by name, in order. torchtrt/compile.h is the public
// door.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <torch/script.h>

#include "partitioning/partition.h"
#include "torchtrt/compile.h"
#include "torchtrt/export.h"

namespace torchtrt::compiler {

// A method of a module, or a graph without one.
struct Source {
  std::shared_ptr<const torch::jit::Module> module;
  std::string method = "forward";
  std::shared_ptr<torch::jit::Graph> graph;
};

struct Compiled {
  torch::jit::Module module;
  Report report;
};

struct Choices;  // compiler/updates/choices.h

// Compiles with the choices of another compile of the source with other weights, to the same partition or not at all.
TORCHTRT_API Compiled compile(const Source& source, const ts::CompileSpec& spec, const Choices* choices = nullptr);

// The same way as far as the plan, which has to be one: its self-contained bytes.
TORCHTRT_API std::string buildEngine(const Source& source, const ts::CompileSpec& spec);

// True when every node of the lowered method can be converted; the others are logged as warnings.
TORCHTRT_API bool isSupported(const Source& source);

}  // namespace torchtrt::compiler
