// torchtrtc profile: where the time of a module goes, step by step, against what the machine can do.

#include <iostream>
#include <memory>

#include "call_options.h"
#include "command_line.h"
#include "commands.h"
#include "files.h"
#include "forward_inputs.h"
#include "torchtrt/profile.h"
#include "waiting.h"

namespace torchtrtc {
namespace {

struct ProfileOptions {
  std::string file, json, trace;
  CallOptions call;
  size_t most = 20;
};

// Nothing to do without a path.
template <typename Text>
void writeText(const std::string& path, Text text) {
  if (!path.empty()) {
    replaceFile(path, text() + "\n");
  }
}

void profile(const ProfileOptions& options) {
  for (const std::string& path : {options.json, options.trace}) {
    if (!path.empty()) {
      checkTarget(path);
    }
  }
  prepare(options.call);
  torch::jit::Module module = loadModule(options.file, kAnyModule, options.call.device);
  module.eval();
  const auto inputs = forwardInputs(module, options.call, "torchtrtc profile " + options.file);
  const torchtrt::Profile profile = [&] {
    const Waiting waiting("timing");
    return torchtrt::ts::profile(module, inputs, options.call.calls);
  }();
  std::cout << profile.toText(options.most);
  writeText(options.json, [&] { return profile.toJson(); });
  writeText(options.trace, [&] { return profile.toTrace(); });
}

}  // namespace

void addProfileCommand(CLI::App& app) {
  auto* command = app.add_subcommand(
      "profile", "Time a module's engines step by step, and what PyTorch runs beside them, on random inputs");
  auto options = std::make_shared<ProfileOptions>();
  command->group("Commands");
  command->add_option("FILE", options->file, "TorchScript module, compiled or not")->required();
  addCallOptions(*command, options->call, /*least_calls=*/1);
  command->add_option("--most", options->most, "Rows of each table")
      ->option_text("NUMBER")
      ->check(atLeast(0))
      ->capture_default_str();
  command->add_option("--json", options->json, "File to write all of it to as JSON")->option_text("FILE");
  command->add_option("--trace", options->trace, "File to write a trace to, for ui.perfetto.dev or chrome://tracing")
      ->option_text("FILE");
  command->callback([options] { profile(*options); });
}

}  // namespace torchtrtc
