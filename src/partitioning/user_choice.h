// Nodes that the user keeps in PyTorch: by operator, or by the module that they were inlined from.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <torch/script.h>

#include "torchtrt/error.h"

namespace torchtrt::partitioning {

struct UserChoice {
  std::set<std::string> torch_executed_ops;  // "aten::relu", all overloads and its in-place form
  std::vector<std::string>
      torch_executed_modules;  // classes ("torchvision.models.resnet.BasicBlock") or paths ("layer1.0")
};
std::optional<Refusal> refusalBy(const UserChoice& choice, const torch::jit::Node& node);

// Names of the choice that mean nothing: operators that PyTorch does not have, and, where a module is given, what is
// neither the class nor the path of a module in it. Operators that this module lacks are no mistake: lists are written
// for many.
std::vector<std::string> namesOfNothing(const UserChoice& choice, const torch::jit::Module* module);

}  // namespace torchtrt::partitioning
