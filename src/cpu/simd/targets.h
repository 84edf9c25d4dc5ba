// Highway compiles the vector code for AVX-512, AVX2 and one scalar variant for everything older. That is HWY_SCALAR,
// also where Highway would take EMU128 (GCC from 12.3 on). Include it before any Highway header.
#pragma once
#define HWY_BROKEN_EMU128 1
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
