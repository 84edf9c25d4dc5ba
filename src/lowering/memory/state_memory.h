// Finds the tensors among a module's attributes whose memory no other attribute names. A write to one of them shows
// under no other name.
#pragma once

#include <set>
#include <string>

#include <torch/script.h>

namespace torchtrt::lowering {

// Their names from the module down, as "layer.cache". An attribute that a method sets is not among them: it may be set
// to what another one holds.
std::set<std::string> tensorsApart(const torch::jit::Module& module);

// Returns the attribute's name of a value that a graph reads from the module, its first input; empty for anything else.
std::string attributeName(const torch::jit::Value& value);

// True if a node sets an attribute to its own value: `self.count += 1` writes in place, and sets the result.
bool setsToItself(const torch::jit::Node& set);

}  // namespace torchtrt::lowering
