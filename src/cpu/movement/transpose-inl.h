// Matrices turned in registers: square tiles of as many rows as a vector has elements. Included once per instruction
// set, like every *-inl.h of Highway.

#if defined(TORCHTRT_KERNELS_MOVEMENT_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCHTRT_KERNELS_MOVEMENT_TRANSPOSE_INL_H_
#undef TORCHTRT_KERNELS_MOVEMENT_TRANSPOSE_INL_H_
#else
#define TORCHTRT_KERNELS_MOVEMENT_TRANSPOSE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// target[c * target_stride + r] = source[r * source_stride + c] for r < rows, c < columns.
template <typename T>
void transposeScalar(const T* source, int64_t source_stride, T* target, int64_t target_stride, int64_t rows,
                     int64_t columns) {
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) {
      std::memcpy(target + c * target_stride + r, source + r * source_stride + c, sizeof(T));  // may be a part of two
    }
  }
}

#if HWY_TARGET == HWY_SCALAR

template <class D, typename T = hn::TFromD<D>>
void transposeByTiles(D, const T* source, int64_t source_stride, T* target, int64_t target_stride, int64_t rows,
                      int64_t columns) {
  transposeScalar(source, source_stride, target, target_stride, rows, columns);
}

#else

// Vectors consist of blocks of 16 bytes, which most of their instructions keep apart.
template <typename T>
constexpr size_t kBlock = 16 / sizeof(T);

// `vectors` are rows; their blocks become columns of themselves. Interleaving the halves of the list of rows once for
// every power of two among them leaves columns.
template <class D, typename V = hn::Vec<D>>
HWY_INLINE void transposeInBlocks(D d, V* vectors) {
  constexpr size_t kRows = kBlock<hn::TFromD<D>>;
#pragma GCC unroll 16
  for (size_t step = 1; step < kRows; step *= 2) {
    V interleaved[kRows];
#pragma GCC unroll 16
    for (size_t i = 0; i < kRows / 2; ++i) {
      interleaved[2 * i] = hn::InterleaveLower(d, vectors[i], vectors[i + kRows / 2]);
      interleaved[2 * i + 1] = hn::InterleaveUpper(d, vectors[i], vectors[i + kRows / 2]);
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < kRows; ++i) {
      vectors[i] = interleaved[i];
    }
  }
}

// Block j of vector i for block i of vector j; the vectors are `apart` from each other.
template <class D, typename V = hn::Vec<D>>
HWY_INLINE void transposeBlocks(D d, V* vectors, size_t apart) {
  constexpr size_t kBlocks = hn::MaxLanes(D()) / kBlock<hn::TFromD<D>>;
  V& v0 = vectors[0];
  if constexpr (kBlocks == 2) {
    V& v1 = vectors[apart];
    const V lower = hn::ConcatLowerLower(d, v1, v0);
    v1 = hn::ConcatUpperUpper(d, v1, v0);
    v0 = lower;
  } else if constexpr (kBlocks == 4) {
    V& v1 = vectors[apart];
    V& v2 = vectors[2 * apart];
    V& v3 = vectors[3 * apart];
    const V even01 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(v1), v0);
    const V odd01 = hn::OddEvenBlocks(v1, hn::SwapAdjacentBlocks(v0));
    const V even23 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(v3), v2);
    const V odd23 = hn::OddEvenBlocks(v3, hn::SwapAdjacentBlocks(v2));
    v0 = hn::ConcatLowerLower(d, even23, even01);
    v1 = hn::ConcatLowerLower(d, odd23, odd01);
    v2 = hn::ConcatUpperUpper(d, even23, even01);
    v3 = hn::ConcatUpperUpper(d, odd23, odd01);
  }
}

// A tile has as many rows and columns as a vector has elements: each is read and written once.
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE void transposeTile(D d, const T* source, int64_t source_stride, T* target, int64_t target_stride) {
  constexpr size_t kSide = hn::MaxLanes(D());
  hn::Vec<D> rows[kSide];
#pragma GCC unroll 16
  for (size_t i = 0; i < kSide; ++i) {
    rows[i] = hn::LoadU(d, source + static_cast<int64_t>(i) * source_stride);
  }
#pragma GCC unroll 16
  for (size_t i = 0; i < kSide; i += kBlock<T>) {
    transposeInBlocks(d, rows + i);
  }
#pragma GCC unroll 16
  for (size_t i = 0; i < kBlock<T>; ++i) {
    transposeBlocks(d, rows + i, kBlock<T>);
  }
#pragma GCC unroll 16
  for (size_t i = 0; i < kSide; ++i) {
    hn::StoreU(rows[i], d, target + static_cast<int64_t>(i) * target_stride);
  }
}

// Tiles, then smaller ones along the edges.
template <class D, typename T = hn::TFromD<D>>
void transposeByTiles(D d, const T* source, int64_t source_stride, T* target, int64_t target_stride, int64_t rows,
                      int64_t columns) {
  constexpr auto kSide = static_cast<int64_t>(hn::MaxLanes(D()));
  const int64_t whole_rows = rows / kSide * kSide;
  const int64_t whole_columns = columns / kSide * kSide;
  for (int64_t c = 0; c < whole_columns; c += kSide) {
    for (int64_t r = 0; r < whole_rows; r += kSide) {
      transposeTile(d, source + r * source_stride + c, source_stride, target + c * target_stride + r, target_stride);
    }
  }
  const auto transposeEdge = [&](int64_t row, int64_t column, int64_t height, int64_t width) HWY_ATTR {
    const T* const from = source + row * source_stride + column;
    T* const to = target + column * target_stride + row;
    if constexpr (kSide > static_cast<int64_t>(kBlock<T>)) {
      const hn::CappedTag<T, kBlock<T>> block;
      transposeByTiles(block, from, source_stride, to, target_stride, height, width);
    } else {
      transposeScalar(from, source_stride, to, target_stride, height, width);
    }
  };
  if (whole_rows < rows) {
    transposeEdge(whole_rows, 0, rows - whole_rows, whole_columns);
  }
  if (whole_columns < columns) {
    transposeEdge(0, whole_columns, rows, columns - whole_columns);
  }
}

#endif

}  // namespace torchtrt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TORCHTRT_KERNELS_MOVEMENT_TRANSPOSE_INL_H_
