// Which tensors among a module's attributes lie in memory that no other attribute names, so that what is written to one
// of them shows under no name but its own.
#pragma once

#include <set>
#include <string>

#include <torch/script.h>

namespace torchtrt::lowering {

// Their names from the module down, as "layer.cache". An attribute that a method sets is not among them: it may be set
// to what another one holds.
std::set<std::string> tensorsApart(const torch::jit::Module& module);

// Of a value that a graph reads from the module, its first input; empty for anything else.
std::string attributeName(const torch::jit::Value& value);

// Whether a node that sets an attribute sets it to what it is: `self.count += 1` writes in place, and sets the result.
bool setsToItself(const torch::jit::Node& set);

}  // namespace torchtrt::lowering
