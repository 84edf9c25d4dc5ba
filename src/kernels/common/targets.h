// Which instruction sets Highway compiles our vector code for: AVX-512, AVX2 and one scalar variant for everything
// older. Include it before any Highway header.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
