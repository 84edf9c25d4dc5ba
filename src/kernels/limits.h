// What the machine can do at the most, measured: profiles hold kernels against it.
#pragma once

#include "torchtrt/export.h"

namespace torchtrt::kernels {

struct Limits {
  double flops = 0;  // a second: float32 multiply-adds on registers, each counted as two
  double bytes = 0;  // a second, read plus written: a copy of more than caches hold
};

// Best of many short runs, about a quarter of a second in all. Holds 128 MiB while it measures; throws EngineError
// (kOutOfMemory) without.
TORCHTRT_API Limits measureLimits(int threads);

}  // namespace torchtrt::kernels
