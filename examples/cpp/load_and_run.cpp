// Loads a compiled module and calls it with random tensors, in a process without Python and without the compiler:
//
//     example_load_and_run COMPILED SIZE...
//
// It links torchtrt::runtime alone, and names nothing of it: torch::jit::load finds the engines.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <vector>

#include <torch/script.h>

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: " << argv[0] << " COMPILED SIZE...\n";
    return 2;
  }
  try {
    std::vector<int64_t> sizes;
    for (int i = 2; i < argc; ++i) {
      sizes.push_back(std::atoll(argv[i]));
    }
    torch::jit::Module module = torch::jit::load(argv[1]);
    const c10::InferenceMode guard;
    const torch::Tensor result = module.forward({torch::rand(sizes)}).toTensor();
    std::cout << "result of " << result.sizes() << ", mean " << result.mean().item<float>() << "\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
