// Makes a call ready for the memory that its caller owns (torchtrt/engine.h, Engine::bind). It has a context and a
// workspace of its own, so that no other call has to be waited for. Private to this folder.
#pragma once

#include <memory>
#include <span>

#include "engine/loading/model.h"
#include "engine/schedule/cache.h"
#include "torchtrt/engine.h"

namespace torchtrt::engine {

// Runs the call once. Throws as Engine::bind() does.
std::unique_ptr<BoundCall> bindCall(const std::shared_ptr<const Model>& model, ScheduleCache& cache,
                                    std::span<const TensorView> inputs, std::span<void* const> outputs, int threads);

}  // namespace torchtrt::engine
