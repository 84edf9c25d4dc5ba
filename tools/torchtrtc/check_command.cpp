// torchtrtc check: can this file be loaded here, and if not, what is missing?

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "call_options.h"
#include "commands.h"
#include "files.h"
#include "kernels/backend.h"
#include "runtime/torch_device.h"
#include "runtime/weight_set.h"

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

void check(const std::string& file, const std::string& device) {
  const auto engines = torchtrt::runtime::enginesIn(loadModule(file, kAnyModule, /*device=*/""));
  std::cout << file << ": loads, " << engines.size() << (engines.size() == 1 ? " engine" : " engines") << "\n";
  const bool is_for_gpu = std::any_of(engines.begin(), engines.end(), [](const auto& engine) {
    return engine.second->deviceInfo().find("%cuda%") != std::string::npos;
  });
  if (is_for_gpu || device.find("cuda") == 0) {
    printWhatGpusLack();
  }
  if (!device.empty()) {
    loadModule(file, kAnyModule, device);
    std::cout << file << ": loads for " << deviceNamed(device).str() << "\n";
  }
}

}  // namespace

void addCheckCommand(CLI::App& app) {
  auto* command =
      app.add_subcommand("check", "Load a saved module and say whether it runs here; name a missing library");
  auto file = std::make_shared<std::string>();
  command->group("Commands");
  command->add_option("FILE", *file, "Module that torch.jit.save wrote")->required();
  auto libraries = std::make_shared<Libraries>();
  addLibraryOptions(*command, *libraries);
  auto device = std::make_shared<std::string>();
  command->add_option("--device", *device, "Say also if it runs there, and what that lacks: cpu, cuda, cuda:1")
      ->option_text("DEVICE");
  command->callback([file, libraries, device] {
    openLibraries(*libraries);
    check(*file, *device);
  });
}

}  // namespace torchtrtc
