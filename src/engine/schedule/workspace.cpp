#include "engine/schedule/workspace.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/align.h"
#include "torchtrt/error.h"

namespace torchtrt::engine {

namespace {

// The tightest gap between neighbours (sorted by offset) that takes `bytes`; behind the last when there is none.
size_t findOffset(const std::vector<const Buffer*>& neighbours, size_t bytes) {
  size_t end = 0;
  size_t best = 0;
  size_t best_gap = std::numeric_limits<size_t>::max();
  for (const Buffer* neighbour : neighbours) {
    if (neighbour->offset > end) {
      const size_t gap = neighbour->offset - end;
      if (gap >= bytes && gap < best_gap) {
        best = end;
        best_gap = gap;
      }
    }
    end = std::max(end, neighbour->offset + alignUp(neighbour->bytes));
  }
  return best_gap == std::numeric_limits<size_t>::max() ? end : best;
}

}  // namespace

size_t layOut(std::vector<Buffer>& buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  std::vector<const Buffer*> placed;  // sorted by offset
  size_t total = 0;
  for (const size_t index : order) {
    Buffer& buffer = buffers[index];
    std::vector<const Buffer*> neighbours;
    for (const Buffer* other : placed) {
      if (other->first <= buffer.last && buffer.first <= other->last) {
        neighbours.push_back(other);
      }
    }
    const size_t bytes = alignUp(buffer.bytes);
    buffer.offset = findOffset(neighbours, bytes);
    if (bytes < buffer.bytes || buffer.offset > std::numeric_limits<int64_t>::max() - bytes) {
      throw EngineError(ErrorCode::kOutOfMemory, "the workspace would have more than 2^63 bytes", {},
                        "use smaller inputs or a smaller batch");
    }
    total = std::max(total, buffer.offset + bytes);
    const auto position = std::upper_bound(placed.begin(), placed.end(), &buffer,
                                           [](const Buffer* a, const Buffer* b) { return a->offset < b->offset; });
    placed.insert(position, &buffer);
  }
  return total;
}

}  // namespace torchtrt::engine
