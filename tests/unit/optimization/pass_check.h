// Text tests of passes: network text in, expected text out. Both texts may leave out what parsing completes.
#pragma once

#include <string>

namespace torchtrt::optimization::testing {

// The pass turns `before` into `after`, exactly, and both compute the same numbers.
void expectChanged(const std::string& pass, const std::string& before, const std::string& after);

// The pass leaves the network as it is.
void expectKept(const std::string& pass, const std::string& text);

// Does what expectChanged does, for the whole pipeline.
void expectOptimized(const std::string& before, const std::string& after);

}  // namespace torchtrt::optimization::testing
