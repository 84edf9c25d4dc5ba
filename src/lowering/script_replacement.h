// Replaces a node by a function in TorchScript's language, where arguments decide what is computed. Later passes fold
// what is constant among these.
#pragma once

#include <string>

#include <torch/script.h>

namespace torchtrt::lowering {

class ScriptReplacement {
 public:
  // `source` defines one function, which takes the node's inputs in order and gives its outputs.
  explicit ScriptReplacement(const std::string& source);

  // Puts the function's nodes in the node's place; they take its source range and scope.
  void replace(torch::jit::Node* node) const;

 private:
  std::shared_ptr<torch::jit::Graph> graph_;
};

}  // namespace torchtrt::lowering
