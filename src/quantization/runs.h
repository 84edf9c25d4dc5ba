// Networks run on batches, through plans and engines as they are when they are deployed.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "torchtrt/engine.h"
#include "torchtrt/network.h"

namespace torchtrt::quantization {

using Tensors = std::vector<network::Weights>;  // row-major

// Throws CompileError(kBuildFailed).
std::shared_ptr<const engine::Engine> loadEngine(const network::Network& network);

// The engine's outputs. Throws EngineError.
Tensors run(const engine::Engine& engine, std::span<const engine::TensorView> inputs);
Tensors run(const engine::Engine& engine, const Tensors& inputs);

}  // namespace torchtrt::quantization
