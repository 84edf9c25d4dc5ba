// The C++ samples of specification document 002, as printed, with the device swapped for one that every machine has and
// the document's own slips mended (braces around forward's arguments, kHalf, the name of the engine to write). Each
// prints one line that tests/python/test_documents.py compares with PyTorch.
//
//   document_002 MODULE INPUT ENGINE_FILE

#include <torch/script.h>  // One-stop header.

#include <fstream>
#include <iostream>
#include <memory>

#include "torch/script.h"
#include "trtorch/trtorch.h"

namespace {

void show(const char* name, const torch::jit::IValue& value) {
  const at::Tensor tensor = value.toTensor().to(torch::kDouble).flatten();
  std::cout << name;
  std::cout.precision(17);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    std::cout << " " << tensor[i].item<double>();
  }
  std::cout << std::endl;
}

void runInPyTorch(torch::jit::Module mod, const torch::Tensor& in) {
  mod.eval();
  auto out = mod.forward({in});
  show("pytorch", out);
}

void compileGraph(torch::jit::Module mod, const torch::Tensor& in) {
  mod.to(at::kCPU);
  mod.eval();

  auto trt_mod = trtorch::CompileGraph(mod, std::vector<trtorch::ExtraInfo::InputRange>{{in.sizes()}});
  auto out = trt_mod.forward({in});
  show("compiled", out);
}

void compileInHalf(torch::jit::Module mod, const torch::Tensor& given) {
  mod.to(at::kCPU);
  mod.eval();

  auto in = given.to(torch::kHalf);
  auto input_sizes = std::vector<trtorch::ExtraInfo::InputRange>({in.sizes()});
  trtorch::ExtraInfo info(input_sizes);
  info.op_precision = torch::kHalf;
  auto trt_mod = trtorch::CompileGraph(mod, info);
  auto out = trt_mod.forward({in});
  show("half", out);
}

void writeEngine(torch::jit::Module mod, const torch::Tensor& given, const char* file) {
  mod.to(at::kCPU);
  mod.eval();

  auto in = given.to(torch::kHalf);
  auto input_sizes = std::vector<trtorch::ExtraInfo::InputRange>({in.sizes()});
  trtorch::ExtraInfo info(input_sizes);
  info.op_precision = torch::kHalf;
  auto trt_mod = trtorch::ConvertGraphToTRTEngine(mod, "forward", info);
  std::ofstream out(file);
  out << trt_mod;
  out.close();
}

}  // namespace

int main(int argc, const char* argv[]) {
  if (argc != 4) {
    std::cerr << "usage: document_002 MODULE INPUT ENGINE_FILE\n";
    return 2;
  }
  torch::jit::Module module;
  try {
    // Deserialize the ScriptModule from a file using torch::jit::load().
    module = torch::jit::load(argv[1]);
  } catch (const c10::Error& e) {
    std::cerr << "error loading the model\n";
    return -1;
  }

  std::cout << "ok\n";
  const torch::Tensor in = torch::jit::load(argv[2]).attr("input").toTensor();
  runInPyTorch(module, in);
  compileGraph(module, in);
  compileInHalf(module, in);
  writeEngine(module, in, argv[3]);
  return 0;
}
