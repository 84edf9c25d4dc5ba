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

}  // namespace torchtrt::partitioning
