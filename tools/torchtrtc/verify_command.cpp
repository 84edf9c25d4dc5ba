// torchtrtc verify: a compiled module against the module it was made of, engine by engine.

#include <iostream>
#include <memory>
#include <stdexcept>

#include "call_options.h"
#include "commands.h"
#include "files.h"
#include "forward_inputs.h"
#include "torchtrt/verify.h"
#include "waiting.h"

namespace torchtrtc {
namespace {

struct VerifyOptions {
  std::string file, compiled, json;
  CallOptions call;
};

void verify(const VerifyOptions& options) {
  if (!options.json.empty()) {
    checkTarget(options.json);
  }
  prepare(options.call);
  torch::jit::Module module = loadModule(options.file, kAnyModule, options.call.device);
  module.eval();
  const torch::jit::Module compiled = loadModule(options.compiled, kAnyModule, options.call.device);
  const auto inputs = forwardInputs(module, options.call, "torchtrtc verify " + options.file + " " + options.compiled);
  const torchtrt::Verification verification = [&] {
    const Waiting waiting("comparing");
    return torchtrt::ts::verify(module, compiled, inputs, options.call.calls);
  }();
  std::cout << verification.toText();
  if (!options.json.empty()) {
    replaceFile(options.json, verification.toJson() + "\n");
  }
  if (!verification.agrees()) {
    throw std::runtime_error(verification.verdict());
  }
}

}  // namespace

void addVerifyCommand(CLI::App& app) {
  auto* command = app.add_subcommand(
      "verify", "Hold a compiled module against the module it was made of, engine by engine, on random inputs");
  auto options = std::make_shared<VerifyOptions>();
  command->group("Commands");
  command->add_option("FILE", options->file, "TorchScript module that was compiled")->required();
  command->add_option("COMPILED", options->compiled, "What it was compiled to")->required();
  addCallOptions(*command, options->call, /*least_calls=*/1);
  command->add_option("--json", options->json, "File to write all of it to as JSON")->option_text("FILE");
  command->callback([options] { verify(*options); });
}

}  // namespace torchtrtc
