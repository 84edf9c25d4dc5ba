// Finds the rows of a tile through pointers or by their even distances. Included once per instruction set.

#if defined(TORCHTRT_KERNELS_GEMM_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCHTRT_KERNELS_GEMM_ROWS_INL_H_
#undef TORCHTRT_KERNELS_GEMM_ROWS_INL_H_
#else
#define TORCHTRT_KERNELS_GEMM_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "cpu/gemm/packed_gemm.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::gemm::HWY_NAMESPACE {
namespace {

// `count` rows exist; those beyond repeat the last one: they compute and store the same once more. With kOrdered, every
// row adds up in the order of the depth, whatever the number of rows.
template <typename T, bool kOrdered>
struct PointedRows {
  using Element = T;
  static constexpr bool kInOrder = kOrdered;

  const TileOf<T>& tile;
  int count;

  static constexpr bool kEven = false;
  static constexpr bool kTapsApart = false;
  // Element k of run `tap` is at start(tap, row)[offset(tap) + k].
  HWY_INLINE const T* start(int64_t tap, int row) const {
    return tile.rows[tap * kTileRows + std::min(row, count - 1)];
  }
  HWY_INLINE int64_t offset(int64_t) const {
    return 0;
  }
  HWY_INLINE T* out(int row) const {
    return tile.out[std::min(row, count - 1)];
  }
  HWY_INLINE const T* residual(int row) const {
    return tile.residual[std::min(row, count - 1)];
  }
};
template <typename T, bool kApart, bool kOrdered>
struct EvenRows {
  using Element = T;
  static constexpr bool kInOrder = kOrdered;

  const SlabOf<T>& slab;
  int count;
  const T* starts[kTileRows];  // of A's rows
  int64_t offsets[kTileRows];  // of C's rows

  HWY_INLINE EvenRows(const SlabOf<T>& of, int64_t first, int rows) : slab(of), count(rows) {
    for (int r = 0; r < kTileRows; ++r) {
      const int64_t row = first + std::min(r, count - 1);
      starts[r] = slab.a + (slab.a_offsets == nullptr ? row * slab.a_stride : slab.a_offsets[row]);
      offsets[r] = row * slab.out_stride;
    }
  }
  static constexpr bool kEven = true;  // start() is the same for every tap
  static constexpr bool kTapsApart = kApart;
  HWY_INLINE const T* start(int64_t, int row) const {
    return starts[row];
  }
  HWY_INLINE int64_t offset(int64_t tap) const {
    return slab.tap_offsets[tap];
  }
  HWY_INLINE T* out(int row) const {
    return slab.out + offsets[row];
  }
  HWY_INLINE const T* residual(int row) const {
    return slab.residual + offsets[row];
  }
};

}  // namespace
}  // namespace torchtrt::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
