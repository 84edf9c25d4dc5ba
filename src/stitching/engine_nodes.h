// The nodes of document 004 that run an engine, and the module around a graph that has them. Shared by `stitch` and
// `embed`; knows nothing of partitions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <torch/script.h>

#include "partitioning/partition.h"
#include "runtime/engine_class.h"

namespace torchtrt::stitching {

// Attribute and argument names have to be identifiers when the module is saved as source.
std::string asIdentifier(const std::string& text);

// A module of a class of its own in a compilation unit of its own, so that equal compiles give equal names.
torch::jit::Module makeModule(const std::string& module_name);

// Adds the attribute that PyTorch's modules have, unless it is there.
void addTraining(torch::jit::Module& module);

torch::jit::Value* getAttribute(torch::jit::Graph& graph, const std::string& attribute, const c10::TypePtr& type);

// Adds the engine as an attribute; gives the node that reads it.
torch::jit::Value* holdEngine(torch::jit::Graph& graph, torch::jit::Module& module, const std::string& attribute,
                              const c10::intrusive_ptr<runtime::Engine>& engine);

// Adds the nodes that run an engine; gives its outputs, null for those that update an input.
std::vector<torch::jit::Value*> emitEngine(torch::jit::Graph& graph, torch::jit::Value* holder,
                                           const runtime::Engine& engine, std::vector<torch::jit::Value*> inputs,
                                           const std::vector<partitioning::Update>& updates = {});

// A single value as it is, several as a tuple.
torch::jit::Value* packed(torch::jit::Graph& graph, const std::vector<torch::jit::Value*>& values);

// With the schema of the original method, if there is one.
void addMethod(torch::jit::Module& module, const std::string& method, const std::shared_ptr<torch::jit::Graph>& graph,
               const c10::FunctionSchema* schema);

}  // namespace torchtrt::stitching
