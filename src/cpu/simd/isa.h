// Caps the instruction sets that kernels may use, from TORCHTRT_MAX_ISA, so that a test can run what a weaker machine
// would. It chooses no kernel and knows none: Highway's and oneDNN's own run-time dispatch do that, below the cap.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "torchtrt/export.h"

namespace torchtrt::kernels {

// x86 levels, weakest first; kNative means no cap. On other architectures the cap has no effect.
enum class Isa : uint8_t { kSse4, kAvx2, kAvx512, kAvx512Vnni, kAvx512Bf16, kAvx512Fp16, kAmx, kNative };

TORCHTRT_API const char* toString(Isa isa);  // "sse4", "avx2", "avx512", "avx512_vnni", ..., "native"
TORCHTRT_API std::optional<Isa> parseIsa(std::string_view text);

// The cap of this process: TORCHTRT_MAX_ISA, read at the first call. The first call also hands the cap to Highway and
// oneDNN, so it must come before any of their kernels; createKernel() does that. Throws EngineError(kInvalidOption) for
// an unknown name.
TORCHTRT_API Isa isaCap();

// The Highway targets (HWY_AVX2, ...) that a cap forbids, as hwy::DisableTargets takes them. A test that wants to run
// every variant of the machine below the cap loops over hwy::SupportedAndGeneratedTargets() with
// hwy::SetSupportedTargetsForTest().
TORCHTRT_API int64_t highwayTargetsAbove(Isa cap);

}  // namespace torchtrt::kernels
