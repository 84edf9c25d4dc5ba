// Places of what is not zero in a strided tensor, in row-major order, found by any number of threads: a first pass
// counts in every chunk, so that a second one knows where each chunk's places go. Private to this folder.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "cpu/loops/strided_loop.h"
#include "cpu/storage/convert.h"
#include "cpu/threads/parallel.h"
#include "torchtrt/plugin.h"

namespace torchtrt::kernels::counted {

class Places {
 public:
  Places(const plugin::InputView& view, int threads)
      : dtype_(view.dtype),
        dims_(view.dims.begin(), view.dims.end()),
        strides_(view.strides.begin(), view.strides.end()),
        data_(view.data),
        elements_(countOf(dims_)),
        threads_(threads),
        starts_(static_cast<size_t>((elements_ + kChunk - 1) / kChunk) + 1, 0) {
    inChunks([this](size_t chunk, int64_t begin, int64_t end) {
      int64_t count = 0;
      visit(begin, end, [&](int64_t) { ++count; });
      starts_[chunk + 1] = count;
    });
    for (size_t chunk = 1; chunk < starts_.size(); ++chunk) {
      starts_[chunk] += starts_[chunk - 1];
    }
  }

  int64_t count() const {
    return starts_.back();
  }

  // body(k, place): the k-th of them has this row-major number. In order within a chunk, chunks at the same time.
  template <typename Body>
  void forEach(Body&& body) const {
    inChunks([&](size_t chunk, int64_t begin, int64_t end) {
      int64_t k = starts_[chunk];
      visit(begin, end, [&](int64_t place) { body(k++, place); });
    });
  }

 private:
  static constexpr int64_t kChunk = 16384;

  template <typename Body>
  void inChunks(Body&& body) const {
    const auto chunks = static_cast<int64_t>(starts_.size()) - 1;
    parallelFor(threads_, 0, chunks, 1, [&](int64_t first, int64_t last) {
      for (int64_t chunk = first; chunk < last; ++chunk) {
        body(static_cast<size_t>(chunk), chunk * kChunk, std::min(elements_, (chunk + 1) * kChunk));
      }
    });
  }

  template <typename Body>
  void visit(int64_t begin, int64_t end, Body&& body) const {
    visitComputeType(dtype_, [&](auto type) {
      using T = typename decltype(type)::type;
      const Reader<T> reader(dtype_);
      std::array<T, kRun> buffer;
      FlatCursor cursor(dims_, strides_);
      cursor.seek(begin);
      for (int64_t at = begin; at < end;) {
        const int64_t n = std::min({cursor.runLength(), end - at, kRun});
        const T* values = reader.view(data_, cursor.offset(), cursor.step(), n, buffer.data());
        for (int64_t i = 0; i < n; ++i) {
          if (values[i] != T(0)) {
            body(at + i);
          }
        }
        at += n;
        cursor.advance(n);
      }
    });
  }

  DType dtype_;
  std::vector<int64_t> dims_, strides_;
  const void* data_;
  int64_t elements_;
  int threads_;
  std::vector<int64_t> starts_;  // per chunk, how many come before it
};

}  // namespace torchtrt::kernels::counted
