// Reading and writing the tool's files: every failure names the file and what to do, and a target is replaced only when the new
// content is complete.
#pragma once

#include <functional>
#include <string>

#include <torch/script.h>

namespace torchtrtc {

// Throws CompileError(kInvalidModule): no such file, not a TorchScript archive, or a library is missing that the module needs.
torch::jit::Module loadModule(const std::string& path);

std::string readFile(const std::string& path);

// `write` gets the name of a temporary file beside `path`, which then takes its place. Throws CompileError(kOutput).
void replaceFile(const std::string& path, const std::function<void(const std::string& temporary)>& write);

// The library that defines the operator or class which libtorch could not find, from its message; "" when it names none.
std::string missingLibrary(const std::string& libtorch_message);

}  // namespace torchtrtc
