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

// As many rows and columns as 16 bytes have elements. Interleaving the halves of the list of rows once for every power
// of two among them leaves columns.
template <typename T>
constexpr int64_t kTile = 16 / sizeof(T);

template <typename T>
HWY_INLINE void transposeTile(const T* source, int64_t source_stride, T* target, int64_t target_stride) {
  constexpr size_t kRows = kTile<T>;
  const hn::CappedTag<T, kRows> d;
  hn::Vec<decltype(d)> rows[kRows], interleaved[kRows];
  for (size_t i = 0; i < kRows; ++i) {
    rows[i] = hn::LoadU(d, source + static_cast<int64_t>(i) * source_stride);
  }
  for (size_t step = 1; step < kRows; step *= 2) {
    for (size_t i = 0; i < kRows / 2; ++i) {
      interleaved[2 * i] = hn::InterleaveLower(d, rows[i], rows[i + kRows / 2]);
      interleaved[2 * i + 1] = hn::InterleaveUpper(d, rows[i], rows[i + kRows / 2]);
    }
    for (size_t i = 0; i < kRows; ++i) {
      rows[i] = interleaved[i];
    }
  }
  for (size_t i = 0; i < kRows; ++i) {
    hn::StoreU(rows[i], d, target + static_cast<int64_t>(i) * target_stride);
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
  constexpr int64_t kSide = kTile<T>;
  const int64_t whole_rows = rows / kSide * kSide;
  const int64_t whole_columns = columns / kSide * kSide;
  for (int64_t c = 0; c < whole_columns; c += kSide) {
    for (int64_t r = 0; r < whole_rows; r += kSide) {
      transposeTile(source + r * source_stride + c, source_stride, target + c * target_stride + r, target_stride);
    }
  }
  transposeScalar(source + whole_rows * source_stride, source_stride, target + whole_rows, target_stride,
                  rows - whole_rows, whole_columns);
  transposeScalar(source + whole_columns, source_stride, target + whole_columns * target_stride, target_stride, rows,
                  columns - whole_columns);
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
  for (size_t i = 0; i < dims.size(); ++i) {
    count *= dims[i];
    if (dims[i] != 1) {
      axes.push_back({dims[i], target_strides[i], source_strides[i]});
    }
  }
  if (count < kSmall || !std::has_single_bit(element_size) || element_size > sizeof(double)) {
    return std::nullopt;
  }
  std::stable_sort(axes.begin(), axes.end(),
                   [](const Axis& a, const Axis& b) { return a.target_stride > b.target_stride; });
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
  Transpose transpose;
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

void Transpose::run(int threads, const std::byte* source, std::byte* target) const {
  constexpr int64_t kUnit = 2048;    // elements worth asking where they lie
  constexpr int64_t kGrain = 16384;  // elements worth a thread
  const auto function = HWY_DYNAMIC_DISPATCH(transposeForTarget)();
  const auto size = static_cast<int64_t>(element_size_);
  const int64_t part = std::max<int64_t>(64, kUnit / rows_.size);  // columns of a unit of work
  const int64_t parts = (columns_.size + part - 1) / part;
  int64_t units = parts;
  for (const Axis& axis : outer_) {
    units *= axis.size;
  }
  const int64_t grain = std::max<int64_t>(1, kGrain / (std::min(part, columns_.size) * rows_.size));
  parallelFor(threads, 0, units, grain, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = unit % parts * part;
      int64_t source_offset = first;
      int64_t target_offset = first * columns_.target_stride;
      int64_t rest = unit / parts;
      for (size_t i = outer_.size(); i-- > 0;) {
        const int64_t index = rest % outer_[i].size;
        rest /= outer_[i].size;
        source_offset += index * outer_[i].source_stride;
        target_offset += index * outer_[i].target_stride;
      }
      function(element_size_, source + source_offset * size, rows_.source_stride, target + target_offset * size,
               columns_.target_stride, rows_.size, std::min(part, columns_.size - first));
    }
  });
}

}  // namespace torchtrt::kernels
#endif  // HWY_ONCE
