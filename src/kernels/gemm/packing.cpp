#include <algorithm>

#include "device/constants.h"
#include "kernels/gemm/packed_gemm.h"
#include "kernels/parallel.h"

namespace torchtrt::kernels::gemm {

PackedB::PackedB(int64_t depth, int64_t columns, int64_t column_stride, const std::function<const float*(int64_t)>& row,
                 int threads)
    : depth_(depth), columns_(columns) {
  const auto [lanes, max_vectors] = panelShape();
  const int64_t vectors = (columns + lanes - 1) / lanes;
  const auto count = static_cast<size_t>(vectors * lanes * depth);
  bytes_ = count * sizeof(float);
  data_ = std::static_pointer_cast<float>(device::allocateConstant(bytes_, "packing weights"));
  for (int64_t vector = 0; vector < vectors;) {
    // Even shares: 4 vectors become 2 + 2, not 3 + 1.
    const int64_t panels_left = (vectors - vector + max_vectors - 1) / max_vectors;
    const int64_t width = (vectors - vector + panels_left - 1) / panels_left;
    const int64_t column = vector * lanes;
    const int64_t valid = std::min(width * lanes, columns - column);
    panels_.push_back({data_.get() + column * depth, static_cast<int32_t>(width), static_cast<int32_t>(column),
                       static_cast<int32_t>(valid)});
    vector += width;
  }
  constexpr int64_t kGrain = 65536;  // floats worth a thread
  const int64_t grain = std::max<int64_t>(1, kGrain / (depth * max_vectors * lanes + 1));
  parallelFor(threads, 0, static_cast<int64_t>(panels_.size()), grain, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const Panel& panel = panels_[static_cast<size_t>(p)];
      float* to = data_.get() + panel.column * depth;
      for (int64_t k = 0; k < depth; ++k) {
        const float* from = row(k) + panel.column * column_stride;
        if (column_stride == 1) {
          std::copy_n(from, panel.valid, to);
        } else {
          for (int64_t n = 0; n < panel.valid; ++n) {
            to[n] = from[n * column_stride];
          }
        }
        std::fill(to + panel.valid, to + panel.vectors * lanes, 0.0F);
        to += panel.vectors * lanes;
      }
    }
  });
}

}  // namespace torchtrt::kernels::gemm
