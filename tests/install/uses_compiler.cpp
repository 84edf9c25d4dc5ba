// Compiles a saved module for images of 1x32x32 and saves the result: uses_compiler MODULE COMPILED
#include <iostream>

#include "torch_tensorrt/torch_tensorrt.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cout << torch_tensorrt::get_build_info();
    return 2;
  }
  const torch::jit::Module module = torch::jit::load(argv[1]);
  const std::vector<torch_tensorrt::Input> inputs = {torch_tensorrt::Input(std::vector<int64_t>{1, 1, 32, 32})};
  torch_tensorrt::ts::compile(module, torch_tensorrt::ts::CompileSpec(inputs)).save(argv[2]);
}
