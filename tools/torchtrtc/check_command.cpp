// torchtrtc check: can this file be loaded here, and if not, what is missing? Does it compute here what it computed
// where it was made?

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bundle.h"
#include "call_options.h"
#include "commands.h"
#include "files.h"
#include "kernels/backend.h"
#include "runtime/torch_device.h"
#include "runtime/weight_set.h"
#include "torchtrt/error.h"

namespace torchtrtc {

namespace {

// A line for each part that engines on a GPU need or are slower without.
void printWhatGpusLack() {
  std::vector<std::string> lines;
  if (std::string why; !torchtrt::runtime::isThere(at::Device(at::kCUDA), why)) {
    lines.push_back(why + ": PyTorch's tensors are on no GPU");
  }
  for (const std::string& line : torchtrt::kernels::missingParts("cuda")) {
    lines.push_back(line);
  }
  std::cout << (lines.empty() ? "a run on a GPU lacks nothing here\n" : "a run on a GPU lacks here:\n");
  for (const std::string& line : lines) {
    std::cout << "  " << line << "\n";
  }
}

struct CheckOptions {
  std::string file, device;
  bool has_numbers = false;
  Libraries libraries;
};

// Where a module of this file runs: on the device that was asked for, else on that of its engines.
void checkNumbersOf(const std::string& file, const std::string& device, const torch::jit::Module& module) {
  const std::optional<Bundle> bundle = bundleIn(file);
  if (!bundle) {
    throw torchtrt::CompileError(torchtrt::ErrorCode::kInvalidModule,
                                 "\"" + file + "\" holds no inputs and expected outputs", {},
                                 "put them in where it was made: torchtrtc bundle FILE OUTPUT SPECS...");
  }
  const auto engines = torchtrt::runtime::enginesIn(module);
  const at::Device where = !device.empty()   ? deviceNamed(device)
                           : engines.empty() ? at::Device(at::kCPU)
                                             : engines.front().second->device();
  checkNumbers(file, module, *bundle, where);
}

void check(const CheckOptions& options) {
  const auto& [file, device, has_numbers, libraries] = options;
  torch::jit::Module module = loadModule(file, kAnyModule, /*device=*/"");
  const auto engines = torchtrt::runtime::enginesIn(module);
  std::cout << file << ": loads, " << engines.size() << (engines.size() == 1 ? " engine" : " engines") << "\n";
  const bool is_for_gpu = std::any_of(engines.begin(), engines.end(), [](const auto& engine) {
    return engine.second->deviceInfo().find("%cuda%") != std::string::npos;
  });
  if (is_for_gpu || device.find("cuda") == 0) {
    printWhatGpusLack();
  }
  if (!device.empty()) {
    module = loadModule(file, kAnyModule, device);
    std::cout << file << ": loads for " << deviceNamed(device).str() << "\n";
  }
  if (has_numbers) {
    checkNumbersOf(file, device, module);
  }
}

}  // namespace

void addCheckCommand(CLI::App& app) {
  auto* command =
      app.add_subcommand("check", "Load a saved module and say whether it runs here; name a missing library");
  auto options = std::make_shared<CheckOptions>();
  command->group("Commands");
  command->add_option("FILE", options->file, "Module that torch.jit.save wrote")->required();
  command->add_flag("--numbers", options->has_numbers,
                    "Call it, too, and compare with the outputs that torchtrtc bundle put into the file");
  addLibraryOptions(*command, options->libraries);
  command->add_option("--device", options->device, "Say also if it runs there, and what that lacks: cpu, cuda, cuda:1")
      ->option_text("DEVICE");
  command->callback([options] {
    openLibraries(options->libraries);
    check(*options);
  });
}

}  // namespace torchtrtc
