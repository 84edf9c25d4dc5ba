#include "cpu/movement/transpose.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/movement/transpose.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/movement/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

template <typename T>
void transpose(const T* source, int64_t source_stride, T* target, int64_t target_stride, int64_t rows,
               int64_t columns) {
  transposeScalar(source, source_stride, target, target_stride, rows, columns);
}

#else

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

#include "cpu/threads/parallel.h"

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

// Goes by blocks of which both sides fit into the first cache: whole cache lines are read and written, though a tile
// needs parts of them.
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
