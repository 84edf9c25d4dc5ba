// Kernels of this backend walk through tensors by these: dims that lie next to each other become one, so that the text
// is made for few ranks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cuda/launch/launch.h"

namespace torchtrt::cuda {

using Ints = std::vector<int64_t>;
using kernels::broadcastStrides;
using kernels::countOf;

// Several tensors of one shape, each with strides of its own.
struct Layout {
  Ints dims;
  std::vector<Ints> strides;

  int64_t count() const {
    return countOf(dims);
  }
  int64_t rank() const {
    return static_cast<int64_t>(dims.size());
  }
};

// The same elements in the same order with as few dims as possible.
Layout collapsed(const Ints& dims, const std::vector<Ints>& strides);
// The same elements with as few dims as possible, in the order in which the last tensor has them in memory.
Layout collapsedInAnyOrder(const Ints& dims, const std::vector<Ints>& strides);
// Walk<rank> of text/storage.cuh: its numbers, and as an argument.
Ints walkOf(const Ints& dims, const Ints& strides);
void addWalk(Arguments& arguments, const Ints& dims, const Ints& strides);
// True where a ShortWalk<rank> goes through these: it takes no 64-bit arithmetic and no division.
bool isShort(const Ints& dims, const Ints& strides);
void addShortWalk(Arguments& arguments, const Ints& dims, const Ints& strides);
// Strides<rank>.
void addStrides(Arguments& arguments, const Ints& strides);

// Elements of so many bytes in a chunk, 16 bytes that a thread moves at once.
int64_t inChunk(size_t element_size);
// True if a chunk begins at each multiple of these strides.
bool keepChunks(std::span<const int64_t> strides, int64_t chunk);
// The number of neighbours along the last axis of all tensors that a thread may take at once: 16 bytes of the one with
// the greatest elements. The last tensor is written; of others one element may stand for all. 1 where they lie apart.
int64_t chunkOf(const Layout& layout, const std::vector<size_t>& element_sizes);

}  // namespace torchtrt::cuda
