// Runs graphs and methods in libtorch's interpreter as they are, node by node. A call of the method itself would start
// the profiling executor, which watches first calls and then generates code: seconds for a module that a compile runs
// once. There is a checkpoint before every node.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <torch/csrc/jit/runtime/interpreter.h>
#include <torch/script.h>

namespace torchtrt::compiler {

// Returns PyTorch's results.
torch::jit::Stack interpret(const std::shared_ptr<torch::jit::Graph>& graph, torch::jit::Stack inputs);

// A method, to be called several times.
class PlainMethod {
 public:
  PlainMethod(const torch::jit::Module& module, const std::string& method);

  torch::jit::IValue operator()(std::vector<torch::jit::IValue> arguments) const;

 private:
  torch::jit::Method method_;
  torch::jit::Code code_;
};

}  // namespace torchtrt::compiler
