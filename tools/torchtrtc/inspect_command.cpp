// torchtrtc inspect: what is in a compiled module, or in a serialized engine.

#include <iostream>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "call_options.h"
#include "command_line.h"
#include "commands.h"
#include "compiler/checking/watch.h"
#include "engines.h"
#include "file_kind.h"
#include "files.h"
#include "forward_inputs.h"
#include "rows.h"
#include "runtime/execute.h"
#include "runtime/onnx.h"
#include "runtime/weight_set.h"
#include "stitching/stitching.h"
#include "torchtrt/engine.h"
#include "torchtrt/error.h"

namespace torchtrtc {
namespace {

void inspectEngine(const std::string& content, const std::string& device) {
  const auto bytes = std::as_bytes(std::span(content.data(), content.size()));
  torchtrt::engine::LoadOptions options;
  options.device = deviceNamed(device).str();
  std::cout << torchtrt::engine::Engine::load(bytes, nullptr, {}, options)->inspect();
}

void inspectModule(const std::string& path, const std::string& device) {
  const torch::jit::Module module =
      loadModule(path, "a TorchScript module or an engine that --save-engine wrote", device);
  const auto engines = torchtrt::runtime::enginesIn(module);
  if (module.hasattr(torchtrt::stitching::kRecord)) {
    std::cout << module.attr(torchtrt::stitching::kRecord).toStringRef() << "\n";
  } else if (engines.empty()) {
    std::cout << path << ": a TorchScript module without engines; torchtrtc INPUT OUTPUT SPECS... compiles it\n\n";
  }
  if (const auto forward = module.find_method("forward")) {
    std::cout << forward->graph()->toString(/*print_source_locations=*/false);
  }
  for (const auto& [name, engine] : engines) {
    std::cout << "\n" << name << ":\n" << engine->engine().inspect();
  }
}

// The schedule of each engine that a forward on random inputs of these specifications reaches.
void printSchedules(const std::string& path, const CallOptions& call) {
  torch::jit::Module module = loadModule(path, kAnyModule, call.device);
  module.eval();
  const auto inputs = forwardInputs(module, call, "torchtrtc inspect " + path + " --shape");
  const c10::InferenceMode inference;
  torchtrt::compiler::Watch watch(1);
  watch.beginForward();
  module.forward(inputs);
  for (const auto& watched : watch.watched()) {
    if (watched.engine != nullptr) {
      std::cout << torchtrt::runtime::scheduleText(watched.inputs.front(), *watched.engine);
    }
  }
}

// Engines of a module side by side, or the one of a file that --save-engine wrote.
std::vector<c10::intrusive_ptr<torchtrt::runtime::Engine>> enginesOf(const std::string& path,
                                                                     const std::string& device) {
  std::vector<c10::intrusive_ptr<torchtrt::runtime::Engine>> engines;
  if (kindOf(path) == FileKind::kEngine) {
    withEngine(path, [&](const std::string& content) {
      engines.push_back(torchtrt::runtime::Engine::fromBytes(content, {deviceNamed(device), ""}));
    });
    return engines;
  }
  for (const auto& [name, engine] : torchtrt::runtime::enginesIn(loadModule(path, kAnyModule, device))) {
    engines.push_back(engine);
  }
  if (engines.empty()) {
    throw torchtrt::CompileError(torchtrt::ErrorCode::kInvalidModule, "\"" + path + "\" has no engines to show", {},
                                 "compile it first: torchtrtc INPUT OUTPUT SPECS...");
  }
  return engines;
}

void writeOnnx(const std::string& path, const std::string& to, bool has_weights, const std::string& device) {
  checkTarget(to);
  const std::string model = torchtrt::runtime::onnxOf(path, enginesOf(path, device), has_weights);
  constexpr size_t kMost = std::numeric_limits<int32_t>::max();  // Protocol Buffers read no more
  if (model.size() > kMost) {
    throw torchtrt::CompileError(torchtrt::ErrorCode::kOutput,
                                 "the ONNX model would be larger than the 2 GiB that readers take", {},
                                 "leave --onnx-weights out");
  }
  replaceFile(to, model);
  tellWritten(to);
}

struct InspectOptions {
  std::string file, onnx;
  bool has_weights = false;
  CallOptions call;  // of --shape
};

void inspect(const InspectOptions& options) {
  prepare(options.call);
  if (options.has_weights && options.onnx.empty()) {
    throw torchtrt::CompileError(torchtrt::ErrorCode::kInvalidOption, "--onnx-weights without --onnx writes nothing",
                                 {}, "give --onnx FILE");
  }
  if (!options.onnx.empty()) {
    writeOnnx(options.file, options.onnx, options.has_weights, options.call.device);
    return;
  }
  if (!options.call.specs.empty()) {
    printSchedules(options.file, options.call);
  } else if (kindOf(options.file) == FileKind::kEngine) {
    withEngine(options.file, [&](const std::string& content) { inspectEngine(content, options.call.device); });
  } else {
    inspectModule(options.file, options.call.device);
  }
}

}  // namespace

void addInspectCommand(CLI::App& app) {
  auto* command = app.add_subcommand(
      "inspect", "Print what is in engines and what is not and why, the graph, and the plan of every engine");
  auto options = std::make_shared<InspectOptions>();
  command->group("Commands");
  command->add_option("FILE", options->file, "Compiled module, or an engine written with --save-engine")->required();
  addRepeatable(*command, "--shape", options->call.specs, "SPEC",
                "Print instead what a call with this input runs, kernel by kernel; one for each argument");
  command->add_option("--onnx", options->onnx, "Write the plans as an ONNX graph instead, which Netron shows")
      ->option_text("FILE");
  command->add_flag("--onnx-weights", options->has_weights, "With --onnx: the values of large weights, too");
  addDeviceOption(*command, options->call.device);
  addSwitches(*command, options->call.switches);
  addLibraryOptions(*command, options->call.libraries);
  command->callback([options] { inspect(*options); });
}

}  // namespace torchtrtc
