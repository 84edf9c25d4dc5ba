// torchtrtc run: calls a module on made-up inputs and says what comes out and how long it takes.

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <sstream>

#include <ATen/Parallel.h>

#include "call_options.h"
#include "command_line.h"
#include "commands.h"
#include "files.h"
#include "forward_inputs.h"
#include "runtime/recording/recorder.h"
#include "runtime/torch_device.h"
#include "saved_values.h"
#include "torchtrt/error.h"

namespace torchtrtc {
namespace {

struct RunOptions {
  std::string file, record;
  bool is_redacted = false;
  CallOptions call;
};

// As the environment says, but into this folder.
void startRecorder(const RunOptions& options) {
  namespace recording = torchtrt::runtime::recording;
  if (options.record.empty()) {
    if (options.is_redacted) {
      throw torchtrt::CompileError(torchtrt::ErrorCode::kInvalidOption, "--redact without --record keeps nothing", {},
                                   "give --record FOLDER");
    }
    return;
  }
  recording::Settings settings = *recording::settingsFromEnvironment(options.record);
  settings.is_redacted = settings.is_redacted || options.is_redacted;
  recording::start(settings);
}

void describe(const torch::jit::IValue& value, const std::string& name) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    std::cout << name << ": " << tensor.scalar_type() << tensor.sizes() << "\n";
  } else if (isSequence(value)) {
    const std::vector<torch::jit::IValue> elements = elementsOf(value);
    for (size_t i = 0; i < elements.size(); ++i) {
      describe(elements[i], name + "[" + std::to_string(i) + "]");
    }
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      std::ostringstream key;
      key << entry.key();
      describe(entry.value(), name + "[" + key.str() + "]");
    }
  } else if (value.isScalar() || value.isString()) {
    std::cout << name << ": " << value.type()->str() << " " << value << "\n";
  } else {
    std::cout << name << ": " << value.type()->str() << "\n";
  }
}

void run(const RunOptions& options) {
  prepare(options.call);
  torch::jit::Module module = loadModule(options.file, kAnyModule, options.call.device);
  module.eval();
  const auto inputs = forwardInputs(module, options.call, "torchtrtc run " + options.file);
  const at::Device device = deviceNamed(options.call.device);
  startRecorder(options);
  const c10::InferenceMode inference;
  describe(module.forward(inputs), "output");
  std::vector<double> milliseconds;
  for (int i = 0; i < options.call.calls; ++i) {
    torchtrt::runtime::synchronize(device);
    const auto start = std::chrono::steady_clock::now();
    module.forward(inputs);
    torchtrt::runtime::synchronize(device);
    milliseconds.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  if (!milliseconds.empty()) {
    std::sort(milliseconds.begin(), milliseconds.end());
    std::cout << options.call.calls << " calls, " << at::get_num_threads() << " threads: median "
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
  addCallOptions(*command, options->call, /*least_calls=*/0);
  command->add_option("--record", options->record, "Keep calls of its engines there, for torchtrtc replay")
      ->option_text("FOLDER");
  command->add_flag("--redact", options->is_redacted,
                    "With --record: keep shapes, dtypes and statistics of tensors, not their values, and no weights");
  command->callback([options] { run(*options); });
}

}  // namespace torchtrtc
