#include "cpu/simd/isa.h"

#include <hwy/targets.h>

#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include "torchtrt/error.h"

#ifndef TORCHTRT_NO_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif

namespace torchtrt::kernels {
namespace {

constexpr std::array<std::pair<Isa, const char*>, 8> kNames = {{{Isa::kSse4, "sse4"},
                                                                {Isa::kAvx2, "avx2"},
                                                                {Isa::kAvx512, "avx512"},
                                                                {Isa::kAvx512Vnni, "avx512_vnni"},
                                                                {Isa::kAvx512Bf16, "avx512_bf16"},
                                                                {Isa::kAvx512Fp16, "avx512_fp16"},
                                                                {Isa::kAmx, "amx"},
                                                                {Isa::kNative, "native"}}};

Isa readCap() {
  const char* text = std::getenv("TORCHTRT_MAX_ISA");
  if (text == nullptr || *text == '\0') {
    return Isa::kNative;
  }
  if (const std::optional<Isa> isa = parseIsa(text)) {
    return *isa;
  }
  std::string known;
  for (const auto& [isa, name] : kNames) {
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw EngineError(ErrorCode::kInvalidOption,
                    "the environment variable TORCHTRT_MAX_ISA is '" + std::string(text) + "'", {},
                    "set it to one of " + known + ", or unset it");
}

#ifndef TORCHTRT_NO_ONEDNN
dnnl_cpu_isa_t oneDnnIsa(Isa cap) {
  switch (cap) {
    case Isa::kSse4:
      return dnnl_cpu_isa_sse41;
    case Isa::kAvx2:
      return dnnl_cpu_isa_avx2;
    case Isa::kAvx512:
      return dnnl_cpu_isa_avx512_core;
    case Isa::kAvx512Vnni:
      return dnnl_cpu_isa_avx512_core_vnni;
    case Isa::kAvx512Bf16:
      return dnnl_cpu_isa_avx512_core_bf16;
    case Isa::kAvx512Fp16:
      return dnnl_cpu_isa_avx512_core_fp16;
    case Isa::kAmx:
      return dnnl_cpu_isa_avx512_core_amx;
    case Isa::kNative:
      break;
  }
  return dnnl_cpu_isa_default;
}
#endif

Isa readAndApplyCap() {
  const Isa cap = readCap();
  if (cap != Isa::kNative) {
    hwy::DisableTargets(highwayTargetsAbove(cap));
#ifndef TORCHTRT_NO_ONEDNN
    if (dnnl_set_max_cpu_isa(oneDnnIsa(cap)) != dnnl_success) {
      throw EngineError(
          ErrorCode::kInvalidOption,
          std::string("oneDNN refused the cap TORCHTRT_MAX_ISA=") + toString(cap) + ": it has run already", {},
          "load torchtrt before other users of the same oneDNN library");
    }
#endif
  }
  return cap;
}

}  // namespace

const char* toString(Isa isa) {
  for (const auto& [candidate, name] : kNames) {
    if (candidate == isa) {
      return name;
    }
  }
  return "unknown";
}

std::optional<Isa> parseIsa(std::string_view text) {
  for (const auto& [isa, name] : kNames) {
    if (text == name) {
      return isa;
    }
  }
  return std::nullopt;
}

int64_t highwayTargetsAbove(Isa cap) {
#if HWY_ARCH_X86
  // Highway gives better targets lower bits.
  switch (cap) {
    case Isa::kSse4:
      return HWY_SSE4 - 1;
    case Isa::kAvx2:
      return HWY_AVX2 - 1;
    case Isa::kAvx512:
      return HWY_AVX3 - 1;
    default:
      return 0;  // this Highway has no target beyond AVX-512 with VNNI
  }
#else
  (void)cap;
  return 0;
#endif
}

Isa isaCap() {
  static const Isa cap = readAndApplyCap();
  return cap;
}

}  // namespace torchtrt::kernels
