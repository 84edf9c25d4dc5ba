// torchtrtc run: calls a module on made-up inputs and says what comes out and how long it takes.

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>

#include <ATen/Parallel.h>

#include "command_line.h"
#include "commands.h"
#include "files.h"
#include "forward_inputs.h"

namespace torchtrtc {
namespace {

struct RunOptions {
  std::string file;
  std::vector<std::string> specs, libraries;
  int calls = 20;
};

void describe(const torch::jit::IValue& value, const std::string& name) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    std::cout << name << ": " << tensor.scalar_type() << tensor.sizes() << "\n";
  } else if (value.isTensorList()) {
    const auto list = value.toTensorVector();
    for (size_t i = 0; i < list.size(); ++i) {
      describe(list[i], name + "[" + std::to_string(i) + "]");
    }
  } else if (value.isTuple()) {
    const auto& elements = value.toTupleRef().elements();
    for (size_t i = 0; i < elements.size(); ++i) {
      describe(elements[i], name + "[" + std::to_string(i) + "]");
    }
  } else {
    std::cout << name << ": " << value.type()->str() << "\n";
  }
}

void run(const RunOptions& options) {
  openLibraries(options.libraries, kCustomOps);
  torch::jit::Module module = loadModule(options.file);
  module.eval();
  const auto inputs = forwardInputs(module, options.specs, "torchtrtc run " + options.file);
  const c10::InferenceMode inference;
  describe(module.forward(inputs), "output");
  std::vector<double> milliseconds;
  for (int i = 0; i < options.calls; ++i) {
    const auto start = std::chrono::steady_clock::now();
    module.forward(inputs);
    milliseconds.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  if (!milliseconds.empty()) {
    std::sort(milliseconds.begin(), milliseconds.end());
    std::cout << options.calls << " calls, " << at::get_num_threads() << " threads: median "
              << milliseconds[milliseconds.size() / 2] << " ms, fastest " << milliseconds.front() << " ms, slowest "
              << milliseconds.back() << " ms\n";
  }
}

}  // namespace

void addRunCommand(CLI::App& app) {
  auto* command =
      app.add_subcommand("run", "Call a module on random inputs; print what comes out and how long it takes");
  auto options = std::make_shared<RunOptions>();
  command->group("Commands");
  command->add_option("FILE", options->file, "TorchScript module, compiled or not")->required();
  command->add_option("SPECS", options->specs, "One input specification per argument, e.g. \"(1,3,224,224)@f32\"");
  command->add_option("--calls", options->calls, "Timed calls")
      ->option_text("NUMBER")
      ->check(atLeast(0))
      ->capture_default_str();
  addRepeatable(*command, kCustomOps, options->libraries, "FILE", "Library with operators that the module uses");
  command->callback([options] { run(*options); });
}

}  // namespace torchtrtc
