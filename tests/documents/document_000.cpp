// The C++ sample of specification document 000, as printed but for the device; only the vector's element type, which
// the printed text lost, is filled in. Prints the result for tests/python/test_documents.py.
//
//   document_000 MODULE

#include <iostream>

#include "torch/script.h"
#include "torch_tensorrt/torch_tensorrt.h"

int main(int argc, const char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: document_000 MODULE\n";
    return 2;
  }
  auto in = torch::ones({1, 1, 32, 32}, {torch::kCPU});

  auto mod = torch::jit::load(argv[1]);
  auto input_sizes = std::vector<torchtrt::Input>{{in.sizes()}};
  torchtrt::ts::CompileSpec cfg(input_sizes);
  cfg.min_block_size = 2;
  auto trt_mod = torchtrt::ts::compile(mod, cfg);
  auto out = trt_mod.forward({in});
  std::cout << out.toTensor() << std::endl;
  return 0;
}
