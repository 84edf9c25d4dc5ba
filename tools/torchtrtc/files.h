// Reading and writing the tool's files: every failure names the file and what to do, and a target is replaced only when
// the new content is complete.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <torch/script.h>

#include "base/safe_file.h"

namespace torchtrtc {

// Throws CompileError(kInvalidModule): no such file, something else than was `expected`, or a library is missing that
// the module needs. Without a device, engines run where the file says, or on the CPU if that is not here.
inline constexpr const char* kAnyModule = "a TorchScript module";
torch::jit::Module loadModule(const std::string& path, const std::string& expected = kAnyModule,
                              const std::string& device = "cpu");

// Throws CompileError(kInvalidOption) for a text that names no device, and for a device that cannot be used here.
at::Device deviceNamed(const std::string& text);

// Opens libraries that register operators or converters. Throws CompileError(kInvalidOption) that names `option`.
void openLibraries(const std::vector<std::string>& files, const std::string& option);

std::string readFile(const std::string& path);

// Throws CompileError(kOutput) where replaceFile() could not write. Commands ask this before minutes of compiling.
void checkTarget(const std::string& path);

// Replaces the file in one step when all of it is written: base/safe_file.h. Throws CompileError(kOutput).
void replaceFile(const std::string& path, const std::function<void(const torchtrt::FileSink& sink)>& write);
void replaceFile(const std::string& path, std::string_view content);

}  // namespace torchtrtc
