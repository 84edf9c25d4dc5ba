// Advanced indexing, shared by reading (index) and writing (index_put): which axes a list of index tensors names, and
// the position of their elements among them.
#pragma once

#include <optional>
#include <vector>

#include "conversion/converters/call.h"

namespace torchtrt::conversion::converters {

// Indices as int32 or int64.
Tensor& asIndices(const Call& call, Tensor& indices);

// The index tensors of argument 1 that are not None, broadcast against each other by arithmetic, and their axes. A
// constant mask becomes the indices of its true elements, any other is refused.
struct IndexedAxes {
  std::vector<Tensor*> indices;
  std::vector<int64_t> axes;
};
IndexedAxes indexedAxes(const Call& call);
bool areNeighbours(const std::vector<int64_t>& axes);

// Row-major position of the indexed elements among the indexed axes, negative indices counted from the end.
Tensor& flatIndex(const Call& call, const Tensor& x, const IndexedAxes& indexed);

// x with the axes in front and merged into one; `dims` and `back` undo it: reshape, then permute.
struct FrontedAxes {
  Tensor* merged;
  Dims dims;
  std::vector<int64_t> back;
};
FrontedAxes bringToFront(const Call& call, Tensor& x, const std::vector<int64_t>& axes);

// The mask that argument 1 consists of, if it is one that is not constant.
struct MaskIndex {
  Tensor* mask;
  int64_t axis;  // its first
};
std::optional<MaskIndex> maskIndex(const Call& call);

}  // namespace torchtrt::conversion::converters
