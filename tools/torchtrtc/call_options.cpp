#include "call_options.h"

#include <ATen/Parallel.h>

#include "command_line.h"
#include "commands.h"
#include "files.h"
#include "torchtrt/plugin.h"

namespace torchtrtc {

void addLibraryOptions(CLI::App& command, Libraries& libraries) {
  addRepeatable(command, kCustomOps, libraries.operators, "FILE", "Library with operators that the module uses");
  addRepeatable(command, "--plugins", libraries.plugins, "FILE", "Library with plugins that its engines use");
}

void openLibraries(const Libraries& libraries) {
  openLibraries(libraries.operators, kCustomOps);
  for (const std::string& file : libraries.plugins) {
    torchtrt::plugin::loadLibrary(file);
  }
}

void addDeviceOption(CLI::App& command, std::string& device) {
  command.add_option("--device", device, "Where the module runs: cpu, cuda, cuda:1")
      ->option_text("DEVICE")
      ->capture_default_str();
}

void addCallOptions(CLI::App& command, CallOptions& options, int least_calls) {
  command.add_option("SPECS", options.specs, "One input specification per argument, e.g. \"(1,3,224,224)@f32\"");
  addCallSettings(command, options, least_calls, "SPECS");
}

void addArgumentsOption(CLI::App& command, CallOptions& options, const std::string& specs) {
  command
      .add_option("--inputs", options.arguments,
                  "Instead of " + specs +
                      ": the arguments, as torch.save wrote them, in a tuple or list, or in a dictionary by "
                      "name; they may be tensors, numbers, texts, lists, tuples and dictionaries")
      ->option_text("FILE");
}

void addCallSettings(CLI::App& command, CallOptions& options, int least_calls, const std::string& specs) {
  addArgumentsOption(command, options, specs);
  command.add_option("--calls", options.calls, "Timed calls")
      ->option_text("NUMBER")
      ->check(atLeast(least_calls))
      ->capture_default_str();
  command.add_option("--threads", options.threads, "Threads of a call (default: as PyTorch sets them)")
      ->option_text("NUMBER")
      ->check(atLeast(1));
  addDeviceOption(command, options.device);
  addSwitches(command, options.switches);
  addLibraryOptions(command, options.libraries);
}

void prepare(const CallOptions& options) {
  setSwitches(options.switches);
  openLibraries(options.libraries);
  if (options.threads > 0) {
    at::set_num_threads(options.threads);
  }
}

}  // namespace torchtrtc
