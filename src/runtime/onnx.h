// Engines as an ONNX graph to look at (plan/onnx.h).
#pragma once

#include <string>
#include <vector>

#include "runtime/engine_class.h"
#include "torchtrt/export.h"

namespace torchtrt::runtime {

// The bytes of a model with the steps of all engines, and the implementation that runs each here. With `has_weights`,
// weights that an engine let go are restored one by one.
TORCHTRT_API std::string onnxOf(const std::string& name, const std::vector<c10::intrusive_ptr<Engine>>& engines,
                                bool has_weights);

}  // namespace torchtrt::runtime
