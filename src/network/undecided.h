// Which dims kept a layer from broadcasting its operands: two that may each be 1 or not.
#pragma once

#include <optional>
#include <utility>

#include "torchtrt/export.h"
#include "torchtrt/network.h"

namespace torchtrt::network {

// Of the last layer that breaks a rule; nothing where there is none, or it breaks another rule.
TORCHTRT_API std::optional<std::pair<Dim, Dim>> undecidedDims(const Network& network);

}  // namespace torchtrt::network
