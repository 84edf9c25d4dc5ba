#include "cpu/gemm/unpack.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "cpu/threads/parallel.h"

namespace torchtrt::kernels::gemm {
namespace {

constexpr int64_t kRows = 16;  // at a time: a cache line where the plain matrix lies by columns

template <typename T>
void unpackPanel(const PanelOf<T>& panel, int64_t width, int64_t depth, int64_t column_stride,
                 const std::function<T*(int64_t)>& row) {
  std::array<T*, kRows> rows{};
  for (int64_t first = 0; first < depth; first += kRows) {
    const int64_t count = std::min(kRows, depth - first);
    for (int64_t k = 0; k < count; ++k) {
      rows[static_cast<size_t>(k)] = row(first + k) + panel.column * column_stride;
    }
    const T* from = panel.data + first * width;
    for (int64_t n = 0; n < panel.valid; ++n) {
      for (int64_t k = 0; k < count; ++k) {
        rows[static_cast<size_t>(k)][n * column_stride] = from[k * width + n];
      }
    }
  }
}

}  // namespace

template <typename T>
void unpack(const PackedBOf<T>& b, int64_t column_stride, const std::type_identity_t<std::function<T*(int64_t)>>& row,
            int threads) {
  const std::vector<PanelOf<T>>& panels = b.panels();
  const int64_t vectors = std::accumulate(panels.begin(), panels.end(), int64_t{0},
                                          [](int64_t sum, const auto& panel) { return sum + panel.vectors; });
  const int64_t lanes = static_cast<int64_t>(b.bytes() / sizeof(T)) / (b.depth() * vectors);
  parallelFor(threads, 0, static_cast<int64_t>(panels.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const PanelOf<T>& panel = panels[static_cast<size_t>(p)];
      unpackPanel(panel, panel.vectors * lanes, b.depth(), column_stride, row);
    }
  });
}

template void unpack(const PackedBOf<float>&, int64_t, const std::function<float*(int64_t)>&, int);
template void unpack(const PackedBOf<double>&, int64_t, const std::function<double*(int64_t)>&, int);

}  // namespace torchtrt::kernels::gemm
