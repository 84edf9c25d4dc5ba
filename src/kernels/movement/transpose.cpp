#include "kernels/movement/transpose.h"

#include "kernels/common/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/movement/transpose.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// target[c * target_stride + r] = source[r * source_stride + c] for r < rows, c < columns.
void transposeScalar(const float* source, int64_t source_stride, float* target, int64_t target_stride, int64_t rows,
                     int64_t columns) {
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) {
      target[c * target_stride + r] = source[r * source_stride + c];
    }
  }
}

#if HWY_TARGET == HWY_SCALAR

void transpose(const float* source, int64_t source_stride, float* target, int64_t target_stride, int64_t rows,
               int64_t columns) {
  transposeScalar(source, source_stride, target, target_stride, rows, columns);
}

#else

HWY_INLINE void transposeTile(const float* source, int64_t source_stride, float* target, int64_t target_stride) {
  const hn::CappedTag<float, 4> d;
  const auto a = hn::LoadU(d, source);
  const auto b = hn::LoadU(d, source + source_stride);
  const auto c = hn::LoadU(d, source + 2 * source_stride);
  const auto e = hn::LoadU(d, source + 3 * source_stride);
  const auto low_ac = hn::InterleaveLower(d, a, c);
  const auto high_ac = hn::InterleaveUpper(d, a, c);
  const auto low_be = hn::InterleaveLower(d, b, e);
  const auto high_be = hn::InterleaveUpper(d, b, e);
  hn::StoreU(hn::InterleaveLower(d, low_ac, low_be), d, target);
  hn::StoreU(hn::InterleaveUpper(d, low_ac, low_be), d, target + target_stride);
  hn::StoreU(hn::InterleaveLower(d, high_ac, high_be), d, target + 2 * target_stride);
  hn::StoreU(hn::InterleaveUpper(d, high_ac, high_be), d, target + 3 * target_stride);
}

// Three planes become triples, and back: images.
int64_t interleaveThree(const float* source, int64_t stride, float* target, int64_t columns) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t c = 0;
  for (; c + lanes <= columns; c += lanes) {
    hn::StoreInterleaved3(hn::LoadU(d, source + c), hn::LoadU(d, source + stride + c),
                          hn::LoadU(d, source + 2 * stride + c), d, target + 3 * c);
  }
  return c;
}

int64_t separateThree(const float* source, float* target, int64_t stride, int64_t rows) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t r = 0;
  for (; r + lanes <= rows; r += lanes) {
    hn::Vec<decltype(d)> x, y, z;
    hn::LoadInterleaved3(d, source + 3 * r, x, y, z);
    hn::StoreU(x, d, target + r);
    hn::StoreU(y, d, target + stride + r);
    hn::StoreU(z, d, target + 2 * stride + r);
  }
  return r;
}

void transpose(const float* source, int64_t source_stride, float* target, int64_t target_stride, int64_t rows,
               int64_t columns) {
  if (rows == 3 && target_stride == 3) {
    const int64_t done = interleaveThree(source, source_stride, target, columns);
    transposeScalar(source + done, source_stride, target + 3 * done, 3, rows, columns - done);
    return;
  }
  if (columns == 3 && source_stride == 3) {
    const int64_t done = separateThree(source, target, target_stride, rows);
    transposeScalar(source + 3 * done, 3, target + done, target_stride, rows - done, columns);
    return;
  }
  const int64_t whole_rows = rows / 4 * 4;
  const int64_t whole_columns = columns / 4 * 4;
  for (int64_t c = 0; c < whole_columns; c += 4) {
    for (int64_t r = 0; r < whole_rows; r += 4) {
      transposeTile(source + r * source_stride + c, source_stride, target + c * target_stride + r, target_stride);
    }
  }
  transposeScalar(source + whole_rows * source_stride, source_stride, target + whole_rows, target_stride,
                  rows - whole_rows, whole_columns);
  transposeScalar(source + whole_columns, source_stride, target + whole_columns * target_stride, target_stride, rows,
                  columns - whole_columns);
}

#endif

using TransposeFunction = void (*)(const float*, int64_t, float*, int64_t, int64_t, int64_t);
TransposeFunction transposeForTarget() {
  return transpose;
}

}  // namespace
}  // namespace torchtrt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <cstdlib>

#include "kernels/parallel.h"

namespace torchtrt::kernels {

HWY_EXPORT(transposeForTarget);

std::optional<Transpose> Transpose::find(const std::vector<int64_t>& dims, const std::vector<int64_t>& target_strides,
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
  if (count < kSmall) {
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
  if (merged.size() < 2 || merged.back().target_stride != 1 || merged.back().source_stride == 1) {
    return std::nullopt;
  }
  Transpose transpose;
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
  constexpr int64_t kPart = 64;      // columns of a unit of work
  constexpr int64_t kGrain = 16384;  // elements worth a thread
  const auto function = HWY_DYNAMIC_DISPATCH(transposeForTarget)();
  const auto* from = reinterpret_cast<const float*>(source);
  auto* to = reinterpret_cast<float*>(target);
  const int64_t parts = (columns_.size + kPart - 1) / kPart;
  int64_t units = parts;
  for (const Axis& axis : outer_) {
    units *= axis.size;
  }
  const int64_t grain = std::max<int64_t>(1, kGrain / (kPart * rows_.size));
  parallelFor(threads, 0, units, grain, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = unit % parts * kPart;
      int64_t source_offset = first;
      int64_t target_offset = first * columns_.target_stride;
      int64_t rest = unit / parts;
      for (size_t i = outer_.size(); i-- > 0;) {
        const int64_t index = rest % outer_[i].size;
        rest /= outer_[i].size;
        source_offset += index * outer_[i].source_stride;
        target_offset += index * outer_[i].target_stride;
      }
      function(from + source_offset, rows_.source_stride, to + target_offset, columns_.target_stride, rows_.size,
               std::min(kPart, columns_.size - first));
    }
  });
}

}  // namespace torchtrt::kernels
#endif  // HWY_ONCE
