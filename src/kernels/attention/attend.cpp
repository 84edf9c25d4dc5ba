#include "kernels/attention/attend.h"

#include <algorithm>

#include "kernels/common/row_reductions.h"

namespace torchtrt::kernels::attention {
namespace {

// The panels that the first `columns` columns lie in.
std::span<const gemm::PackedB::Panel> panelsBelow(const gemm::PackedB& matrix, int64_t columns) {
  const std::vector<gemm::PackedB::Panel>& panels = matrix.panels();
  size_t count = 0;
  while (count < panels.size() && panels[count].column < columns) {
    ++count;
  }
  return std::span(panels).first(count);
}

}  // namespace

Head::Head(const Vectors& keys, const Vectors& values, int64_t count)
    : key_size_(keys.size),
      count_(count),
      keys_(
          keys.size, count, keys.stride, [&](int64_t element) { return keys.data + element * keys.step; }, 1),
      values_(
          count, values.size, values.step, [&](int64_t i) { return values.data + i * values.stride; }, 1),
      functions_(gemm::functions()) {}

void Head::attend(const Queries& queries, float* scores) const {
  for (int64_t first = 0; first < queries.count; first += kBlockRows) {
    attendBlock(queries, first, std::min(kBlockRows, queries.count - first), scores);
  }
}

void Head::attendBlock(const Queries& queries, int64_t first, int64_t rows, float* scores) const {
  const RowReductions& functions = rowReductions();
  const gemm::Epilogue nothing;
  const auto limitOf = [&](int64_t row) { return std::clamp<int64_t>(queries.first_limit + first + row, 0, count_); };
  const int64_t limit = limitOf(rows - 1);
  float* const out = queries.out + first * queries.out_stride;
  if (limit > 0) {
    gemm::Slab slab = {};
    slab.rows = rows;
    slab.epilogue = &nothing;
    slab.panels = panelsBelow(keys_, limit);
    slab.a = queries.data + first * queries.stride;
    slab.a_stride = queries.stride;
    slab.run = key_size_;
    slab.out = scores;
    slab.out_stride = count_;
    functions_.slab(slab);
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t met = limitOf(row);
      float* line = scores + row * count_;
      functions.scale(line, queries.scale, 0.0F, line, met);
      if (queries.mask != nullptr) {
        functions.add(queries.mask + (first + row) * queries.mask_stride, line, met);
      }
      const float greatest = functions.max(line, met);
      const float sum = functions.exponentials(line, greatest, line, met);
      functions.scale(line, 1.0F / sum, 0.0F, line, met);
      std::fill(line + met, line + limit, 0.0F);
    }
    slab.panels = values_.panels();
    slab.a = scores;
    slab.a_stride = count_;
    slab.run = limit;
    slab.out = out;
    slab.out_stride = queries.out_stride;
    functions_.slab(slab);
  }
  for (int64_t row = 0; row < rows && limitOf(row) == 0; ++row) {
    std::fill_n(out + row * queries.out_stride, values_.columns(), 0.0F);
  }
}

}  // namespace torchtrt::kernels::attention
