#include "cpu/quantized/weights/weight_panels.h"

#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "cpu/quantized/weights/weight_product.h"
#include "cpu/threads/parallel.h"
#include "device/constants.h"

namespace torchtrt::kernels::quantized {
namespace {

constexpr int64_t kGrain = 65536;  // weights worth a thread

int64_t bytesOfRow(const IntegerWeights& weights) {
  return weights.depth * weights.bits / 8;
}

}  // namespace

WeightPanels::WeightPanels(const IntegerWeights& source, int threads)
    : shape_{source.columns, source.depth, source.group_size, source.bits, nullptr, nullptr, nullptr},
      lanes_(weightProduct().lanes),
      has_offset_(source.offset != nullptr) {
  const int64_t most = weightProduct().most_vectors;
  const int64_t vectors = (source.columns + lanes_ - 1) / lanes_;
  const int64_t panels = (vectors + most - 1) / most;
  std::vector<size_t> begins;
  for (int64_t p = 0; p < panels; ++p) {  // of even shares: 5 vectors are 3 + 2, not 4 + 1
    const int64_t first = vectors * p / panels;
    WeightPanel panel{};
    panel.vectors = static_cast<int32_t>(vectors * (p + 1) / panels - first);
    panel.column = static_cast<int32_t>(first * lanes_);
    panel.valid = static_cast<int32_t>(std::min(panel.vectors * lanes_, source.columns - panel.column));
    panels_.push_back(panel);
    begins.push_back(bytes_);
    bytes_ += alignUp(static_cast<size_t>(groups() * groupBytes(panel)));
  }
  data_ = std::static_pointer_cast<std::byte>(device::allocateConstant(bytes_, "packing weights"));
  for (size_t p = 0; p < panels_.size(); ++p) {
    panels_[p].data = data_.get() + begins[p];
  }
  const int64_t grain = std::max<int64_t>(1, kGrain / (source.depth * most * lanes_));
  parallelFor(threads, 0, panels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      pack(source, panels_[static_cast<size_t>(p)], data_.get() + begins[static_cast<size_t>(p)]);
    }
  });
}

int64_t WeightPanels::groupBytes(const WeightPanel& panel) const {
  const int64_t width = panel.vectors * lanes_;
  return (has_offset_ ? 2 : 1) * width * static_cast<int64_t>(sizeof(float)) + shape_.group_size * width * bits() / 8;
}

void WeightPanels::pack(const IntegerWeights& source, const WeightPanel& panel, std::byte* to) const {
  const int64_t width = panel.vectors * lanes_;
  const int64_t row_bytes = bytesOfRow(source);
  const int64_t line_bytes = bits() == 4 ? 4 : 1;  // of a column
  const auto* rows = static_cast<const std::byte*>(source.weights) + panel.column * row_bytes;
  for (int64_t group = 0; group < groups(); ++group) {
    for (const float* vector : {source.scale, source.offset}) {
      if (vector == nullptr) {
        continue;
      }
      auto* values = reinterpret_cast<float*>(to);
      for (int64_t n = 0; n < width; ++n) {
        values[n] = n < panel.valid ? vector[(panel.column + n) * groups() + group] : 0.0F;
      }
      to += width * static_cast<int64_t>(sizeof(float));
    }
    const int64_t first = group * shape_.group_size * bits() / 8;
    for (int64_t line = 0; line < shape_.group_size * bits() / 8; line += line_bytes) {
      for (int64_t n = 0; n < panel.valid; ++n) {
        std::memcpy(to + n * line_bytes, rows + n * row_bytes + first + line, static_cast<size_t>(line_bytes));
      }
      std::memset(to + panel.valid * line_bytes, 0, static_cast<size_t>((width - panel.valid) * line_bytes));
      to += width * line_bytes;
    }
  }
}

void WeightPanels::restoreWeights(void* to, int threads) const {
  const int64_t row_bytes = bytesOfRow(shape_);
  const int64_t line_bytes = bits() == 4 ? 4 : 1;
  const int64_t group_row_bytes = shape_.group_size * bits() / 8;
  parallelFor(threads, 0, static_cast<int64_t>(panels_.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const WeightPanel& panel = panels_[static_cast<size_t>(p)];
      const int64_t width = panel.vectors * lanes_;
      auto* rows = static_cast<std::byte*>(to) + panel.column * row_bytes;
      for (int64_t group = 0; group < groups(); ++group) {
        const std::byte* from = panel.data + (group + 1) * groupBytes(panel) - group_row_bytes * width;
        for (int64_t line = 0; line < group_row_bytes; line += line_bytes, from += width * line_bytes) {
          for (int64_t n = 0; n < panel.valid; ++n) {
            std::memcpy(rows + n * row_bytes + group * group_row_bytes + line, from + n * line_bytes,
                        static_cast<size_t>(line_bytes));
          }
        }
      }
    }
  });
}

// The vector of scales is number 0 of a group, that of offsets 1.
void WeightPanels::restoreVectors(int64_t which, float* to) const {
  for (const WeightPanel& panel : panels_) {
    for (int64_t group = 0; group < groups(); ++group) {
      const auto* values =
          reinterpret_cast<const float*>(panel.data + group * groupBytes(panel)) + which * panel.vectors * lanes_;
      for (int64_t n = 0; n < panel.valid; ++n) {
        to[(panel.column + n) * groups() + group] = values[n];
      }
    }
  }
}

void WeightPanels::restoreScale(float* to) const {
  restoreVectors(0, to);
}

void WeightPanels::restoreOffset(float* to) const {
  restoreVectors(1, to);
}

}  // namespace torchtrt::kernels::quantized
