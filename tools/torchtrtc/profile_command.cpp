// torchtrtc profile: where the time of a module goes, step by step, against what the machine can do.

#include <iostream>
#include <memory>

#include <ATen/Parallel.h>

#include "command_line.h"
#include "commands.h"
#include "files.h"
#include "forward_inputs.h"
#include "torchtrt/profile.h"

namespace torchtrtc {
namespace {

struct ProfileOptions {
  std::string file, json;
  std::vector<std::string> specs, libraries;
  int calls = 20;
  int threads = 0;
  size_t most = 20;
};

void profile(const ProfileOptions& options) {
  if (!options.json.empty()) {
    checkTarget(options.json);
  }
  openLibraries(options.libraries, kCustomOps);
  torch::jit::Module module = loadModule(options.file);
  module.eval();
  const auto inputs = forwardInputs(module, options.specs, "torchtrtc profile " + options.file);
  if (options.threads > 0) {
    at::set_num_threads(options.threads);
  }
  const torchtrt::Profile profile = torchtrt::ts::profile(module, inputs, options.calls);
  std::cout << profile.toText(options.most);
  if (!options.json.empty()) {
    const std::string text = profile.toJson() + "\n";
    replaceFile(options.json, [&](const Sink& sink) { sink(text.data(), text.size()); });
  }
}

}  // namespace

void addProfileCommand(CLI::App& app) {
  auto* command = app.add_subcommand(
      "profile", "Time a module's engines step by step, and what PyTorch runs beside them, on random inputs");
  auto options = std::make_shared<ProfileOptions>();
  command->group("Commands");
  command->add_option("FILE", options->file, "TorchScript module, compiled or not")->required();
  command->add_option("SPECS", options->specs, "One input specification per argument, e.g. \"(1,3,224,224)@f32\"");
  command->add_option("--calls", options->calls, "Timed calls")
      ->option_text("NUMBER")
      ->check(atLeast(1))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "Threads of a call (default: as PyTorch sets them)")
      ->option_text("NUMBER")
      ->check(atLeast(1));
  command->add_option("--most", options->most, "Rows of each table")
      ->option_text("NUMBER")
      ->check(atLeast(0))
      ->capture_default_str();
  command->add_option("--json", options->json, "File to write all of it to as JSON")->option_text("FILE");
  addRepeatable(*command, kCustomOps, options->libraries, "FILE", "Library with operators that the module uses");
  command->callback([options] { profile(*options); });
}

}  // namespace torchtrtc
