// Engines in files of their own. Reading only: they are run through a module.
#pragma once

#include <functional>
#include <string>

namespace torchtrtc {

// Calls `use` with the bytes of a file that --save-engine wrote. Throws CompileError(kInvalidModule) for another file;
// an EngineError of `use` gets the file's name.
void withEngine(const std::string& path, const std::function<void(const std::string& engine)>& use);

}  // namespace torchtrtc
