#include <algorithm>

#include "base/align.h"
#include "cpu/gemm/packed_gemm.h"
#include "cpu/threads/parallel.h"
#include "device/constants.h"

namespace torchtrt::kernels::gemm {

template <typename T>
std::vector<PanelOf<T>> panelsFor(const T* data, int64_t depth, int64_t columns) {
  const auto [lanes, max_vectors] = panelShape<T>();
  const int64_t vectors = (columns + lanes - 1) / lanes;
  std::vector<PanelOf<T>> panels;
  for (int64_t vector = 0; vector < vectors;) {
    // Even shares: 4 vectors become 2 + 2, not 3 + 1.
    const int64_t panels_left = (vectors - vector + max_vectors - 1) / max_vectors;
    const int64_t width = (vectors - vector + panels_left - 1) / panels_left;
    const int64_t column = vector * lanes;
    const int64_t valid = std::min(width * lanes, columns - column);
    panels.push_back({data + column * depth, static_cast<int32_t>(width), static_cast<int32_t>(column),
                      static_cast<int32_t>(valid)});
    vector += width;
  }
  return panels;
}

template <typename T>
PackedBOf<T>::PackedBOf(int64_t depth, int64_t columns, int64_t column_stride,
                        const std::function<const T*(int64_t)>& row, int threads)
    : depth_(depth), columns_(columns) {
  const auto [lanes, max_vectors] = panelShape<T>();
  bytes_ = static_cast<size_t>(roundUp(columns, lanes) * depth) * sizeof(T);
  data_ = std::static_pointer_cast<T>(device::allocateConstant(bytes_, "packing weights"));
  panels_ = panelsFor<T>(data_.get(), depth, columns);
  constexpr int64_t kGrain = 65536;  // elements worth a thread
  const int64_t grain = std::max<int64_t>(1, kGrain / (depth * max_vectors * lanes + 1));
  parallelFor(threads, 0, static_cast<int64_t>(panels_.size()), grain, [&, lanes = lanes](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const Panel& panel = panels_[static_cast<size_t>(p)];
      packPanel(panel, lanes, depth, column_stride, row, data_.get() + panel.column * depth);
    }
  });
}

template std::vector<PanelOf<double>> panelsFor(const double* data, int64_t depth, int64_t columns);
template class PackedBOf<float>;
template class PackedBOf<double>;

}  // namespace torchtrt::kernels::gemm
