// Other expressions in the place of a dimension's symbols.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "torchtrt/export.h"
#include "torchtrt/types.h"

namespace torchtrt {

// Returns the value of a symbol; nothing if the symbol stays.
using Substitution = std::function<std::optional<Dim>(const std::string& name)>;

// Throws CompileError where the result has no place in 64 bits, or a divisor becomes 0.
TORCHTRT_API Dim substitute(const Dim& dim, const Substitution& of);
TORCHTRT_API Dims substitute(const Dims& dims, const Substitution& of);

}  // namespace torchtrt
