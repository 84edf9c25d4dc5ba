// The commands that call a module share this: its arguments, libraries, threads and the number of calls.
#pragma once

#include <string>
#include <vector>

#include <torch/script.h>
#include <CLI/CLI.hpp>

#include "kernel_switches.h"

namespace torchtrtc {

// Libraries that a module needs before it is loaded.
struct Libraries {
  std::vector<std::string> operators, plugins;
};

void addLibraryOptions(CLI::App& command, Libraries& libraries);
// Throws CompileError for a file that is no such library.
void openLibraries(const Libraries& libraries);

struct CallOptions {
  std::vector<std::string> specs;
  std::string arguments;  // a file of torch.save instead of specs
  Libraries libraries;
  KernelSwitches switches;
  int calls = 20;
  int threads = 0;             // 0: as many as PyTorch takes
  std::string device = "cpu";  // where the module is loaded
};

// --inputs, in the place of specifications as `specs`.
void addArgumentsOption(CLI::App& command, CallOptions& options, const std::string& specs);
void addDeviceOption(CLI::App& command, std::string& device);
// SPECS and the options; `options` has to live as long as `command`. A command may want some timed calls.
void addCallOptions(CLI::App& command, CallOptions& options, int least_calls);
// The options alone, for a command that takes specifications as `specs`.
void addCallSettings(CLI::App& command, CallOptions& options, int least_calls, const std::string& specs);

// Opens the libraries, sets the threads and switches kernels off: before the module is loaded.
void prepare(const CallOptions& options);

}  // namespace torchtrtc
