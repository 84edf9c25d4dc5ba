#include "runtime/apart.h"

#include <algorithm>

#include <ATen/MemoryOverlap.h>

namespace torchtrt::runtime {

namespace {

// The bytes from the first element to the last.
struct Range {
  const std::byte* begin;
  const std::byte* end;
  bool is_written;
};

// Empty tensors have no range, and neither have those without memory.
void addRange(const at::Tensor& tensor, bool is_written, std::vector<Range>& ranges) {
  if (!tensor.defined() || tensor.layout() != at::kStrided || tensor.is_meta() || tensor.numel() == 0) {
    return;
  }
  int64_t last = 0;
  for (int64_t axis = 0; axis < tensor.dim(); ++axis) {
    last += (tensor.size(axis) - 1) * tensor.stride(axis);
  }
  const auto* begin = static_cast<const std::byte*>(tensor.const_data_ptr());
  ranges.push_back({begin, begin + (last + 1) * static_cast<int64_t>(tensor.element_size()), is_written});
}

bool isPlain(const at::Tensor& tensor) {
  return tensor.defined() && tensor.layout() == at::kStrided && !tensor.is_neg() && !tensor.is_conj() &&
         at::has_internal_overlap(tensor) == at::MemOverlap::No;
}

}  // namespace

bool lieApart(const std::vector<at::Tensor>& written, const std::vector<at::Tensor>& others) {
  if (!std::all_of(written.begin(), written.end(), isPlain)) {
    return false;
  }
  std::vector<Range> ranges;
  ranges.reserve(written.size() + others.size());
  for (const at::Tensor& tensor : written) {
    addRange(tensor, true, ranges);
  }
  for (const at::Tensor& tensor : others) {
    addRange(tensor, false, ranges);
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  const std::byte* written_end = nullptr;
  const std::byte* read_end = nullptr;
  for (const Range& range : ranges) {
    if (range.begin < written_end || (range.is_written && range.begin < read_end)) {
      return false;
    }
    (range.is_written ? written_end : read_end) = std::max(range.is_written ? written_end : read_end, range.end);
  }
  return true;
}

}  // namespace torchtrt::runtime
