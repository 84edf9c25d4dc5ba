// Values as a method's argument types want them: what Python and signatures give is nested, and its collections
// untyped.
#pragma once

#include <optional>

#include <torch/script.h>

#include "torchtrt/export.h"

namespace torchtrt::compiler {

// Nothing where the value cannot be of that type.
TORCHTRT_API std::optional<torch::jit::IValue> asType(const torch::jit::IValue& value, const c10::TypePtr& type);

}  // namespace torchtrt::compiler
