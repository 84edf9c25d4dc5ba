// The distance between two results, as verify() and replays of recorded calls measure it.
#pragma once

#include <string>

#include "torchtrt/export.h"

namespace torchtrt {

// Infinite if the results cannot be compared: other shapes, dtypes, integers, places of NaN and infinity.
struct TORCHTRT_API Deviation {
  double relative = 0;     // max|expected - got| / max|expected| of the tensor that is furthest from what is allowed it
  double ulps = 0;         // from an element to the other's, in numbers that the dtype can tell apart: the most of all
  double allowed = 0;      // relative: of that tensor's dtype, one that modules are pinned to, or int8 (0.5: gross)
  std::string difference;  // the first that is not allowed; empty: they agree

  double ofAllowed() const;  // relative / allowed
};

}  // namespace torchtrt
