// The engines inside a compiled module, and those in files of their own. Finding and reading only: they are run through
// a module.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <torch/script.h>

#include "runtime/engine_class.h"

namespace torchtrtc {

// Attribute path and engine, in the order of the module's attributes.
std::vector<std::pair<std::string, c10::intrusive_ptr<torchtrt::runtime::Engine>>> findEngines(
    const torch::jit::Module& module);

// Calls `use` with the bytes of a file that --save-engine wrote. Throws CompileError(kInvalidModule) for another file;
// an EngineError of `use` gets the file's name.
void withEngine(const std::string& path, const std::function<void(const std::string& engine)>& use);

}  // namespace torchtrtc
