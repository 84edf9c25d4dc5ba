// The schedule of a call that an engine was made for.
#pragma once

#include <string>

#include "torchtrt/engine.h"
#include "torchtrt/export.h"

namespace torchtrt::engine {

// Engine::schedule() for inputs of the optimum's sizes, which lie in rows.
TORCHTRT_API std::string scheduleAtOptimum(const Engine& engine);

}  // namespace torchtrt::engine
