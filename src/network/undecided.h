// Finds the dims that kept a layer from broadcasting its operands: two that may each be 1 or not.
#pragma once

#include <optional>
#include <utility>

#include "torchtrt/export.h"
#include "torchtrt/network.h"

namespace torchtrt::network {

// Returns the dims of the last layer that breaks a rule; nothing if none does, or it breaks another rule.
TORCHTRT_API std::optional<std::pair<Dim, Dim>> undecidedDims(const Network& network);

}  // namespace torchtrt::network
