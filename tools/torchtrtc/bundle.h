// Inputs and expected outputs within a saved module's file, for `torchtrtc check --numbers`. They are an extra file of
// torch.jit.save, which torch.jit.load leaves alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <torch/script.h>

namespace torchtrtc {

struct Bundle {
  std::vector<torch::jit::IValue> inputs;  // of forward
  torch::jit::IValue outputs;
};

// Throws CompileError(kInvalidModule) for a file that is damaged there.
std::optional<Bundle> bundleIn(const std::string& file);
// Writes a copy of the module's file with the bundle in it, in the place of an earlier one. Everything else stays, byte
// for byte. Throws CompileError(kOutput).
void writeBundled(const std::string& file, const Bundle& bundle, const std::string& to);

// Calls the module and compares. Prints a line for the outputs, and throws std::runtime_error if they differ.
void checkNumbers(const std::string& file, torch::jit::Module module, const Bundle& bundle, const at::Device& device);

}  // namespace torchtrtc
