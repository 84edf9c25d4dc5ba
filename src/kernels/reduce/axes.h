// The axes of a reduction that stay and those that go: what the fast implementations share. The reference does not use
// it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/common/loop_nest.h"
#include "kernels/common/strided_loop.h"
#include "kernels/kernel.h"

namespace torchtrt::kernels::reduce {

struct ReduceAxes {
  ReduceAxes(const std::vector<int64_t>& reduced_axes, const ShapeSet& shapes);

  // Whether there is anything to do, and neighbours in memory are terms of one output, or belong to outputs that are
  // neighbours, enough of them for a vector.
  bool areFast() const {
    return reduced.count() != 0 && kept.count() != 0 &&
           (by_rows || (are_wide && kept.steps()[0] == 1 && kept.steps()[1] == 1));
  }

  // T is the type of input and output. Every output is what row(from) returns, whose terms forRows() gives; or
  // columns(from, to, n) writes n neighbouring outputs, at most most_columns, whose terms forTerms() gives. `grain` is
  // the number of terms worth a thread.
  template <typename T, typename Row, typename Columns>
  void run(const RunArgs& args, int64_t most_columns, int64_t grain, Row&& row, Columns&& columns) const {
    const auto* in = static_cast<const T*>(args.inputs[0]);
    auto* out = static_cast<T*>(args.outputs[0]);
    const int64_t outputs = std::max<int64_t>(1, grain / reduced.count());
    kept.run(args.threads, most_columns, outputs, [&](const LoopNest::Block& block) {
      for (int64_t line = 0; line < block.rows; ++line) {
        const T* from = in + block.offsets[1] + line * block.row_strides[1];
        T* to = out + block.offsets[0] + line * block.row_strides[0];
        if (!by_rows) {
          columns(from, to, block.length);
          continue;
        }
        for (int64_t i = 0; i < block.length; ++i) {
          to[i * block.steps[0]] = row(from + i * block.steps[1]);
        }
      }
    });
  }

  // body(terms, n): the terms of one output, n of them next to each other.
  template <typename T, typename Body>
  void forRows(const T* from, Body&& body) const {
    if (in_one_row) {
      body(from, reduced.count());
      return;
    }
    reduced.run(0, reduced.count(), reduced.count(),
                [&](const int64_t* offsets, const int64_t*, int64_t n) { body(from + offsets[0], n); });
  }

  // body(terms): one term of every one of neighbouring outputs.
  template <typename T, typename Body>
  void forTerms(const T* from, Body&& body) const {
    reduced.run(0, reduced.count(), reduced.count(), [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        body(from + offsets[0] + i * steps[0]);
      }
    });
  }

  LoopNest kept;            // output and input
  StridedLoop reduced;      // input
  bool by_rows = true;      // neighbours in memory are terms of one output,
  bool in_one_row = false;  // which has no others
  bool are_wide = true;     // terms of one output lie so far apart that those of eight fit between
};

}  // namespace torchtrt::kernels::reduce
