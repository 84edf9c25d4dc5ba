#include "kernels/movement/transpose.h"

#include "kernels/common/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/movement/transpose.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::HWY_NAMESPACE {
namespace {

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

template <typename T>
void transpose(const T* source, int64_t source_stride, T* target, int64_t target_stride, int64_t rows,
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

// As many rows and columns as a vector has elements: each is read and written once.
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

// Two to four planes become pairs, triples or quadruples, as the channels of an image do, and back. Both return how
// much is done: whole vectors.
template <typename T>
int64_t interleave(const T* source, int64_t stride, T* target, int64_t planes, int64_t columns) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto plane = [&](int64_t i, int64_t c) HWY_ATTR { return hn::LoadU(d, source + i * stride + c); };
  int64_t c = 0;
  for (; c + lanes <= columns; c += lanes) {
    if (planes == 2) {
      hn::StoreInterleaved2(plane(0, c), plane(1, c), d, target + 2 * c);
    } else if (planes == 3) {
      hn::StoreInterleaved3(plane(0, c), plane(1, c), plane(2, c), d, target + 3 * c);
    } else {
      hn::StoreInterleaved4(plane(0, c), plane(1, c), plane(2, c), plane(3, c), d, target + 4 * c);
    }
  }
  return c;
}

template <typename T>
int64_t separate(const T* source, T* target, int64_t stride, int64_t planes, int64_t rows) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t r = 0;
  for (; r + lanes <= rows; r += lanes) {
    hn::Vec<decltype(d)> values[4];
    if (planes == 2) {
      hn::LoadInterleaved2(d, source + 2 * r, values[0], values[1]);
    } else if (planes == 3) {
      hn::LoadInterleaved3(d, source + 3 * r, values[0], values[1], values[2]);
    } else {
      hn::LoadInterleaved4(d, source + 4 * r, values[0], values[1], values[2], values[3]);
    }
    for (int64_t i = 0; i < planes; ++i) {
      hn::StoreU(values[i], d, target + i * stride + r);
    }
  }
  return r;
}

template <typename T>
void transpose(const T* source, int64_t source_stride, T* target, int64_t target_stride, int64_t rows,
               int64_t columns) {
  if (rows >= 2 && rows <= 4 && target_stride == rows) {
    const int64_t done = interleave(source, source_stride, target, rows, columns);
    transposeScalar(source + done, source_stride, target + rows * done, rows, rows, columns - done);
    return;
  }
  if (columns >= 2 && columns <= 4 && source_stride == columns) {
    const int64_t done = separate(source, target, target_stride, columns, rows);
    transposeScalar(source + columns * done, columns, target + done, target_stride, rows - done, columns);
    return;
  }
  constexpr size_t kMostRows = 16;  // as many vectors as there are registers for
  const hn::CappedTag<T, kMostRows> d;
  transposeByTiles(d, source, source_stride, target, target_stride, rows, columns);
}

#endif

// Strides in elements of `size` bytes.
void transposeBytes(size_t size, const std::byte* source, int64_t source_stride, std::byte* target,
                    int64_t target_stride, int64_t rows, int64_t columns) {
  const auto as = [&](auto element) {
    using T = decltype(element);
    transpose(reinterpret_cast<const T*>(source), source_stride, reinterpret_cast<T*>(target), target_stride, rows,
              columns);
  };
  size == 1 ? as(uint8_t()) : size == 2 ? as(uint16_t()) : size == 4 ? as(float()) : as(double());
}

using TransposeFunction = void (*)(size_t, const std::byte*, int64_t, std::byte*, int64_t, int64_t, int64_t);
TransposeFunction transposeForTarget() {
  return transposeBytes;
}

}  // namespace
}  // namespace torchtrt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "kernels/parallel.h"

namespace torchtrt::kernels {

HWY_EXPORT(transposeForTarget);

// Two, four or eight neighbours on both sides that move together become one element.
void Transpose::widenElements(size_t& element_size, std::vector<Axis>& axes) {
  if (axes.size() < 2 || axes.back().target_stride != 1 || axes.back().source_stride != 1) {
    return;
  }
  const int64_t neighbours = axes.back().size;
  const auto fits = [&](const Axis& axis) {
    return axis.target_stride % neighbours == 0 && axis.source_stride % neighbours == 0;
  };
  if (!std::has_single_bit(static_cast<uint64_t>(neighbours)) ||
      static_cast<size_t>(neighbours) * element_size > sizeof(double) ||
      !std::all_of(axes.begin(), axes.end() - 1, fits)) {
    return;
  }
  axes.pop_back();
  element_size *= static_cast<size_t>(neighbours);
  for (Axis& axis : axes) {
    axis.target_stride /= neighbours;
    axis.source_stride /= neighbours;
  }
}

std::optional<Transpose> Transpose::find(size_t element_size, const std::vector<int64_t>& dims,
                                         const std::vector<int64_t>& target_strides,
                                         const std::vector<int64_t>& source_strides) {
  constexpr int64_t kSmall = 256;  // elements
  std::vector<Axis> axes;
  int64_t count = 1;
  Transpose transpose;
  for (size_t i = 0; i < dims.size(); ++i) {
    count *= dims[i];
    Axis axis{dims[i], target_strides[i], source_strides[i]};
    if (axis.source_stride == -1 && axis.target_stride != 1) {  // from the other end: neighbours in their order
      transpose.source_offset_ += (axis.size - 1) * axis.source_stride * static_cast<int64_t>(element_size);
      transpose.target_offset_ += (axis.size - 1) * axis.target_stride * static_cast<int64_t>(element_size);
      axis = {axis.size, -axis.target_stride, 1};
    }
    if (dims[i] != 1) {
      axes.push_back(axis);
    }
  }
  if (count < kSmall || !std::has_single_bit(element_size) || element_size > sizeof(double)) {
    return std::nullopt;
  }
  std::stable_sort(axes.begin(), axes.end(),
                   [](const Axis& a, const Axis& b) { return std::abs(a.target_stride) > std::abs(b.target_stride); });
  std::vector<Axis> merged;
  for (const Axis& axis : axes) {
    if (!merged.empty() && merged.back().target_stride == axis.target_stride * axis.size &&
        merged.back().source_stride == axis.source_stride * axis.size) {
      merged.back() = {merged.back().size * axis.size, axis.target_stride, axis.source_stride};
    } else {
      merged.push_back(axis);
    }
  }
  widenElements(element_size, merged);
  if (merged.size() < 2 || merged.back().target_stride != 1 || merged.back().source_stride == 1) {
    return std::nullopt;
  }
  transpose.element_size_ = element_size;
  transpose.rows_ = merged.back();
  merged.pop_back();
  const auto columns =
      std::find_if(merged.begin(), merged.end(), [](const Axis& axis) { return axis.source_stride == 1; });
  if (columns == merged.end()) {
    return std::nullopt;
  }
  transpose.columns_ = *columns;
  merged.erase(columns);
  transpose.outer_ = std::move(merged);
  return transpose;
}

// By blocks of which both sides fit into the first cache: whole cache lines are read and written, though a tile needs
// parts of them.
void Transpose::run(int threads, const std::byte* source, std::byte* target) const {
  constexpr int64_t kSide = 64;      // elements of a block's side
  constexpr int64_t kUnit = 8192;    // elements worth asking where they lie
  constexpr int64_t kGrain = 16384;  // elements worth a thread
  const auto function = HWY_DYNAMIC_DISPATCH(transposeForTarget)();
  const auto size = static_cast<int64_t>(element_size_);
  source += source_offset_;
  target += target_offset_;
  const int64_t columns = std::min(columns_.size, std::max(kSide, kUnit / rows_.size));  // of a block
  const int64_t rows = std::min(rows_.size, std::max(kSide, kUnit / columns_.size));
  const int64_t blocks_across = (columns_.size + columns - 1) / columns;
  const int64_t blocks_down = (rows_.size + rows - 1) / rows;
  int64_t blocks = blocks_across * blocks_down;
  for (const Axis& axis : outer_) {
    blocks *= axis.size;
  }
  const int64_t grain = std::max<int64_t>(1, kGrain / (columns * rows));
  parallelFor(threads, 0, blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t row = block % blocks_down * rows;
      const int64_t column = block / blocks_down % blocks_across * columns;
      int64_t source_offset = column + row * rows_.source_stride;
      int64_t target_offset = column * columns_.target_stride + row;
      int64_t rest = block / (blocks_down * blocks_across);
      for (size_t i = outer_.size(); i-- > 0;) {
        const int64_t index = rest % outer_[i].size;
        rest /= outer_[i].size;
        source_offset += index * outer_[i].source_stride;
        target_offset += index * outer_[i].target_stride;
      }
      function(element_size_, source + source_offset * size, rows_.source_stride, target + target_offset * size,
               columns_.target_stride, std::min(rows, rows_.size - row), std::min(columns, columns_.size - column));
    }
  });
}

}  // namespace torchtrt::kernels
#endif  // HWY_ONCE
