// Compiles a saved module for images of 1x32x32 in batches of 1 to 64, runs a batch of seven, and saves the result:
//
//     example_compile_and_run MODULE COMPILED
//
// A program that only runs COMPILED needs <torch/script.h> and libtorchtrt_runtime alone (torchtrt::runtime in CMake).
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <torch/script.h>

#include "torchtrt/torchtrt.h"

namespace {

using Shape = std::vector<int64_t>;

void compileAndRun(const std::string& source, const std::string& target) {
  const torch::jit::Module module = torch::jit::load(source);
  const Shape min_shape{1, 1, 32, 32};
  const Shape opt_shape{4, 1, 32, 32};
  const Shape max_shape{64, 1, 32, 32};
  const torchtrt::Input images(min_shape, opt_shape, max_shape);
  torchtrt::Report report;
  torch::jit::Module compiled = torchtrt::ts::compile(module, torchtrt::ts::CompileSpec({images}), &report);
  std::cout << report.summary() << "\n";

  const torch::NoGradGuard no_grad;
  const torch::Tensor batch = torch::rand({7, 1, 32, 32});
  const torch::Tensor expected = torch::jit::Module(module).forward({batch}).toTensor();
  const torch::Tensor actual = compiled.forward({batch}).toTensor();
  std::cout << "largest difference from PyTorch: " << (actual - expected).abs().max().item<float>() << "\n";
  compiled.save(target);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: " << argv[0] << " MODULE COMPILED\n";
    return 2;
  }
  try {
    compileAndRun(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
