// What the new module takes over from the original beside the method that was compiled.
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
// What a module has beside the method that is compiled: its other methods, if they are kept, the hooks that run before
// and behind forward where the module is called, and what these call. Methods that only the compiled one calls, and
// whose names say that nobody else should, are parts of it.
std::vector<torch::jit::Function*> carriedFunctions(const c10::ClassType& type, const std::string& compiled,
                                                    bool keep_methods);
// All of these; those that call the method that is compiled call the new one.
void carryMethods(const torch::jit::Module& original, const std::string& compiled, bool keep_methods,
                  torch::jit::Module& module);

}  // namespace torchtrt::stitching
