// The oldest spelling's helpers for converters, as names for those of torchtrt/conversion.h; nothing of its own.
#pragma once

#include "torchtrt/conversion.h"

namespace trtorch::core::util {

using torchtrt::conversion::util::node_info;
using torchtrt::conversion::util::toDims;
using torchtrt::conversion::util::toVec;

}  // namespace trtorch::core::util
