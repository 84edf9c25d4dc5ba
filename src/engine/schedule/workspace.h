// Places buffers with known lifetimes in one piece of memory so that those alive together never overlap. Private to
// this folder.
#pragma once

#include <cstddef>
#include <vector>

namespace torchtrt::engine {

struct Buffer {
  size_t bytes = 0;
  size_t first = 0, last = 0;  // the actions, inclusive, from the one that writes it to the last that reads it
  size_t offset = 0;           // result, a multiple of 64
};

// Sets every offset and returns the size of the whole. Largest first, each into the tightest gap that is free all its
// life.
size_t layOut(std::vector<Buffer>& buffers);

}  // namespace torchtrt::engine
