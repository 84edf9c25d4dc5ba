#include "cpu/gemm/tiles.h"

#include "base/check.h"
#include "cpu/simd/isa.h"

#if defined(__x86_64__) && defined(__linux__)
#define TORCHTRT_HAS_TILES 1
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace torchtrt::kernels::gemm {

#ifdef TORCHTRT_HAS_TILES

namespace {

// Registers 0 to 3 hold sums, 4 and 5 rows of A, 6 and 7 columns of B.
struct alignas(64) TileConfiguration {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t bytes_of_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

bool cpuHasTiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kNeeded = 1U << 22 | 1U << 24 | 1U << 25;  // bfloat16, tiles, int8
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kNeeded) == kNeeded;
}

// Linux saves the registers of a process only after it has asked for that.
bool systemGrantsTiles() {
  constexpr int kRequest = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

enum class Kind : uint8_t { kBFloat16, kUInt8, kInt8 };

// The compiler does not see that the instructions read and write memory.
inline void keepOrder() {
  __asm__ volatile("" ::: "memory");
}

// This is a macro because the numbers of registers are parts of the instructions.
#define TORCHTRT_TILE_PRODUCT(c, a, b)            \
  do {                                            \
    if constexpr (kKind == Kind::kBFloat16) {     \
      _tile_dpbf16ps(c, a, b);                    \
    } else if constexpr (kKind == Kind::kUInt8) { \
      _tile_dpbusd(c, a, b);                      \
    } else {                                      \
      _tile_dpbssd(c, a, b);                      \
    }                                             \
  } while (false)

template <Kind kKind, bool kTwoRows, bool kTwoColumns>
__attribute__((target("amx-tile,amx-bf16,amx-int8"))) void multiplyBlock(const TileBlock& block) {
  constexpr int64_t kHalf = kTileSide * kTileStep;
  constexpr int64_t kSumsStride = kTileBlock * 4;
  keepOrder();
  if (block.begin == nullptr) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  } else {
    const auto* begin = static_cast<const std::byte*>(block.begin);
    _tile_loadd(0, begin, 0);
    _tile_loadd(1, begin + 64, 0);
    _tile_loadd(2, begin, 0);
    _tile_loadd(3, begin + 64, 0);
  }
  const std::byte* b = block.b;
  const std::byte* ahead = block.ahead;
  for (int64_t tap = 0; tap < block.taps; ++tap) {
    const std::byte* a = block.a + block.tap_offsets[tap];
    const std::byte* second = a + kTileSide * block.a_stride;
    for (int64_t step = 0; step < block.steps; ++step) {
      for (int64_t line = 0; line < block.ahead_lines; ++line, ahead += 64) {
        _mm_prefetch(reinterpret_cast<const char*>(ahead), _MM_HINT_T1);
      }
      _tile_loadd(6, b, kTileStep);
      _tile_loadd(4, a, block.a_stride);
      TORCHTRT_TILE_PRODUCT(0, 4, 6);
      if constexpr (kTwoColumns) {
        _tile_loadd(7, b + kHalf, kTileStep);
        TORCHTRT_TILE_PRODUCT(1, 4, 7);
      }
      if constexpr (kTwoRows) {
        _tile_loadd(5, second, block.a_stride);
        TORCHTRT_TILE_PRODUCT(2, 5, 6);
        if constexpr (kTwoColumns) {
          TORCHTRT_TILE_PRODUCT(3, 5, 7);
        }
      }
      a += kTileStep;
      second += kTileStep;
      b += 2 * kHalf;
    }
  }
  auto* sums = static_cast<std::byte*>(block.sums);
  _tile_stored(0, sums, kSumsStride);
  if constexpr (kTwoColumns) {
    _tile_stored(1, sums + 64, kSumsStride);
  }
  if constexpr (kTwoRows) {
    _tile_stored(2, sums + kTileSide * kSumsStride, kSumsStride);
    if constexpr (kTwoColumns) {
      _tile_stored(3, sums + kTileSide * kSumsStride + 64, kSumsStride);
    }
  }
  keepOrder();
}

#undef TORCHTRT_TILE_PRODUCT

template <Kind kKind>
void multiply(const TileBlock& block) {
  if (block.row_tiles == 2) {
    block.column_tiles == 2 ? multiplyBlock<kKind, true, true>(block) : multiplyBlock<kKind, true, false>(block);
  } else {
    block.column_tiles == 2 ? multiplyBlock<kKind, false, true>(block) : multiplyBlock<kKind, false, false>(block);
  }
}

__attribute__((target("amx-tile"))) void configure(const TileConfiguration& configuration) {
  keepOrder();
  _tile_loadconfig(&configuration);
}

__attribute__((target("amx-tile"))) void release() {
  _tile_release();
}

}  // namespace

std::optional<Refusal> refuseTiles() {
  static const bool has_tiles = isaCap() >= Isa::kAmx && cpuHasTiles() && systemGrantsTiles();
  if (!has_tiles) {
    return Refusal{"instructions", "needs a CPU with AMX"};
  }
  return std::nullopt;
}

TileMultiply tileMultiply(DType a) {
  return a == DType::kBFloat16 ? multiply<Kind::kBFloat16>
                               : (a == DType::kUInt8 ? multiply<Kind::kUInt8> : multiply<Kind::kInt8>);
}

TileScope::TileScope() {
  static const TileConfiguration configuration;
  configure(configuration);
}

TileScope::~TileScope() {
  release();
}

#else

std::optional<Refusal> refuseTiles() {
  return Refusal{"instructions", "needs a CPU with AMX, and Linux"};
}

TileMultiply tileMultiply(DType) {
  TORCHTRT_CHECK(false, "this build has no tiles");
}

TileScope::TileScope() {
  TORCHTRT_CHECK(false, "this build has no tiles");
}

TileScope::~TileScope() = default;

#endif

}  // namespace torchtrt::kernels::gemm
