// Loads and runs a saved module; names nothing of torchtrt, since a deployment's code need not.
#include <iostream>

#include <torch/script.h>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cout << (torch::getCustomClass("__torch__.torch.classes.tensorrt.Engine") ? "registered" : "not registered")
              << "\n";
    return 0;
  }
  torch::jit::Module module = torch::jit::load(argv[1]);
  std::cout << module.forward({torch::ones({1, 1, 32, 32})}).toTensor().sizes() << "\n";
}
