// Lists what the new module takes over from the original beside the compiled method.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <torch/script.h>

namespace torchtrt::stitching {

// Names of the attributes of `self` that its users read or write; nothing where all may be.
std::optional<std::set<std::string>> attributesUsed(const torch::jit::Value& self);
// Numbers, texts and the like, and what methods use: weights that are in engines are not there twice for nothing.
void carryAttributes(const torch::jit::Module& original, const std::optional<std::set<std::string>>& used,
                     torch::jit::Module& module);
// Returns a module's functions beside the compiled method: its other methods, if they are kept, the hooks that run
// before and behind forward, and the functions that these call. Methods with private names that only the compiled one
// calls are parts of it.
std::vector<torch::jit::Function*> carriedFunctions(const c10::ClassType& type, const std::string& compiled,
                                                    bool keep_methods);
// All of these; those that call the method that is compiled call the new one.
void carryMethods(const torch::jit::Module& original, const std::string& compiled, bool keep_methods,
                  torch::jit::Module& module);

}  // namespace torchtrt::stitching
