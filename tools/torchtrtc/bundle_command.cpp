// torchtrtc bundle: a saved module's file with inputs and expected outputs in it.

#include <memory>
#include <string>

#include "bundle.h"
#include "call_options.h"
#include "commands.h"
#include "files.h"
#include "forward_inputs.h"
#include "rows.h"
#include "saved_values.h"

namespace torchtrtc {
namespace {

struct BundleOptions {
  std::string file, to, original, outputs;
  CallOptions call;
};

// Of the original, of a file, or of the module itself.
torch::jit::IValue expectedOutputs(const BundleOptions& options, const torch::jit::Module& module,
                                   const std::vector<torch::jit::IValue>& inputs) {
  if (!options.outputs.empty()) {
    return readSaved(options.outputs, "--outputs", "write what forward returns with torch.save(y, file)");
  }
  torch::jit::Module caller = module;
  if (!options.original.empty()) {
    caller = loadModule(options.original, kAnyModule, options.call.device);
  }
  caller.eval();
  const c10::InferenceMode inference;
  std::vector<torch::jit::IValue> copies;  // forwards may write to their arguments
  for (const torch::jit::IValue& input : inputs) {
    copies.push_back(input.deepcopy());
  }
  return caller.forward(copies);
}

void bundle(const BundleOptions& options) {
  if (!options.original.empty() && !options.outputs.empty()) {
    throw torchtrt::CompileError(torchtrt::ErrorCode::kInvalidOption,
                                 "--original and --outputs both give expected outputs", {}, "give one of them");
  }
  checkTarget(options.to);
  prepare(options.call);
  const torch::jit::Module module = loadModule(options.file, kAnyModule, options.call.device);
  Bundle bundle;
  bundle.inputs = forwardInputs(module, options.call, "torchtrtc bundle " + options.file + " " + options.to);
  bundle.outputs = expectedOutputs(options, module, bundle.inputs);
  checkNumbers(options.file, module, bundle, deviceNamed(options.call.device));  // no file that fails its own check
  writeBundled(options.file, bundle, options.to);
  tellWritten(options.to);
}

}  // namespace

void addBundleCommand(CLI::App& app) {
  auto* command = app.add_subcommand(
      "bundle",
      "Put inputs and expected outputs into a saved module; check --numbers compares with them where it arrives");
  auto options = std::make_shared<BundleOptions>();
  command->group("Commands");
  command->add_option("FILE", options->file, "Module that torch.jit.save wrote, compiled or not")->required();
  command->add_option("OUTPUT", options->to, "File to write")->required();
  command->add_option("SPECS", options->call.specs, "One input specification per argument, e.g. \"(1,3,224,224)@f32\"");
  addArgumentsOption(*command, options->call, "SPECS");
  command
      ->add_option("--original", options->original,
                   "Module that gives the expected outputs (default: the module itself)")
      ->option_text("FILE");
  command->add_option("--outputs", options->outputs, "Instead: the expected outputs, as torch.save wrote them")
      ->option_text("FILE");
  addDeviceOption(*command, options->call.device);
  addLibraryOptions(*command, options->call.libraries);
  command->callback([options] { bundle(*options); });
}

}  // namespace torchtrtc
