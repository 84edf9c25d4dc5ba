// Values that no operator of an engine computes with.
#pragma once

#include <optional>

#include "conversion/ivalues.h"

namespace torchtrt::conversion {

// Why not, if the value or an element of it is one: a complex number, or a tensor that is no strided one.
std::optional<Refusal> refusalOfValue(const IValue& value);

}  // namespace torchtrt::conversion
