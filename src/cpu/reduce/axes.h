// The axes of a reduction that stay and those that go: what the fast implementations share. The reference does not use
// it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "cpu/loops/loop_nest.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/storage/half_rows.h"
#include "cpu/threads/parallel.h"
#include "kernels/fusion.h"
#include "kernels/kernel.h"

namespace torchtrt::kernels::reduce {

struct ReduceAxes {
  ReduceAxes(const std::vector<int64_t>& reduced_axes, const ShapeSet& shapes);

  // True if there is anything to do and vectors help. Neighbours in memory must be terms of one output, or belong to
  // enough neighbouring outputs for a vector.
  bool areFast() const {
    return reduced.count() != 0 && kept.count() != 0 &&
           (by_rows || (are_wide && kept.steps()[0] == 1 && kept.steps()[1] == 1));
  }

  // The same, but where neighbours belong to neighbouring outputs, for any number of them.
  bool areFastInAnyNumber() const {
    return reduced.count() != 0 && kept.count() != 0 && (by_rows || (kept.steps()[0] == 1 && kept.steps()[1] == 1));
  }

  // T is what terms are reduced in, Stored the type of input and output: T, or uint16_t for `halves`. Every output is
  // what row(from) returns, whose terms forRows() gives; or columns(from, to, n) writes n neighbouring outputs, at most
  // kColumns, whose terms forTerms() gives. `grain` is the number of terms worth a thread.
  template <typename T, int64_t kColumns, typename Stored = T, typename Row, typename Columns>
  void run(const RunArgs& args, int64_t grain, Row&& row, Columns&& columns) const {
    const auto* in = static_cast<const Stored*>(args.inputs[0]);
    auto* out = static_cast<Stored*>(args.outputs[0]);
    const int64_t outputs = std::max<int64_t>(1, grain / reduced.count());
    kept.run(args.threads, kColumns, outputs, [&](const LoopNest::Block& block) {
      for (int64_t line = 0; line < block.rows; ++line) {
        const Stored* from = in + block.offsets[1] + line * block.row_strides[1];
        Stored* to = out + block.offsets[0] + line * block.row_strides[0];
        if (!by_rows) {
          writeColumns<T, kColumns>(to, block.length, [&](T* results) { columns(from, results, block.length); });
          continue;
        }
        for (int64_t i = 0; i < block.length; ++i) {
          store<T>(row(from + i * block.steps[1]), to + i * block.steps[0]);
        }
      }
    });
  }

  // `count` neighbouring outputs, at most kColumns, which body(results) writes as T.
  template <typename T, int64_t kColumns, typename Stored, typename Body>
  void writeColumns(Stored* to, [[maybe_unused]] int64_t count, Body&& body) const {
    if constexpr (std::is_same_v<T, Stored>) {
      body(to);
    } else {
      alignas(64) std::array<T, kColumns> wide;
      body(wide.data());
      halves.narrow(wide.data(), to, count);
    }
  }

  // True if outputs lie next to each other, and the terms of all of them lie in the same order.
  bool areDenseRows() const {
    return by_rows && in_one_row && kept.isOneRow() &&
           (kept.count() == 1 || (kept.steps()[0] == 1 && kept.steps()[1] == reduced.count()));
  }

  // Outputs [begin, end) in the order of memory, of dense rows alone.
  template <typename T, typename Stored, typename Row>
  void runPiece(const RunArgs& args, int64_t begin, int64_t end, Row&& row) const {
    const auto* in = static_cast<const Stored*>(args.inputs[0]);
    for (int64_t i = begin; i < end; ++i) {
      store<T>(row(in + i * reduced.count()), static_cast<Stored*>(args.outputs[0]) + i);
    }
  }

  // body(terms, n): the terms of one output, n of them next to each other, at most one part.
  template <typename Stored, typename Body>
  void forParts(const Stored* from, Body&& body) const {
    const auto row = [&](const Stored* terms, int64_t count) {
      for (int64_t i = 0; i < count; i += FoldsParts::kPart) {
        body(terms + i, std::min(FoldsParts::kPart, count - i));
      }
    };
    if (in_one_row) {
      row(from, reduced.count());
      return;
    }
    reduced.run(0, reduced.count(), reduced.count(),
                [&](const int64_t* offsets, const int64_t*, int64_t n) { row(from + offsets[0], n); });
  }

  // body(terms, n): `count` terms as T, n at a time.
  template <typename T, typename Stored, typename Body>
  void forWide(const Stored* terms, int64_t count, Body&& body) const {
    if constexpr (std::is_same_v<T, Stored>) {
      body(terms, count);
    } else {
      alignas(64) std::array<T, kWidened> wide;
      for (int64_t i = 0; i < count; i += kWidened) {
        const int64_t n = std::min(kWidened, count - i);
        halves.widen(terms + i, wide.data(), n);
        body(static_cast<const T*>(wide.data()), n);
      }
    }
  }

  // body(terms, n): the terms of one output as T, n of them next to each other.
  template <typename T, typename Stored, typename Body>
  void forRows(const Stored* from, Body&& body) const {
    forParts(from, [&](const Stored* terms, int64_t count) { forWide<T>(terms, count, body); });
  }

  // True if the terms of all outputs are lines next to each other, each with one term of every output in their order.
  bool areDenseLines() const {
    bool dense = kept.isOneRow() && kept.steps()[0] == 1 && kept.steps()[1] == 1 && kept.count() > 1;
    reduced.run(0, dense ? 1 : 0, 1,
                [&](const int64_t*, const int64_t* steps, int64_t) { dense = steps[0] == kept.count() && in_one_run; });
    return dense;
  }

  // Dense rows that are few and long, so that threads share them.
  bool areFewAndLong() const {
    return areDenseRows() && kept.count() < kFew && reduced.count() >= kLong;
  }
  size_t foldedBytes() const {
    return static_cast<size_t>(kept.count() * partsOfRow()) * sizeof(double);
  }
  // All outputs of dense rows by their parts; needs foldedBytes() of scratch memory.
  template <typename Stored>
  void runParts(const RunArgs& args, int64_t grain, const FoldsParts& folds) const {
    auto* const folded = static_cast<double*>(args.scratch);
    const int64_t parts = partsOfRow();
    const int64_t grain_parts = std::max<int64_t>(1, grain / FoldsParts::kPart);
    parallelFor(args.threads, 0, kept.count() * parts, grain_parts, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % parts * FoldsParts::kPart;
        folded[i] = folds.fold(static_cast<const Stored*>(args.inputs[0]) + i / parts * reduced.count() + first,
                               std::min(FoldsParts::kPart, reduced.count() - first));
      }
    });
    for (int64_t i = 0; i < kept.count(); ++i) {
      folds.finish(args, i, folded + i * parts, parts);
    }
  }
  template <typename T, typename Stored>
  void write(const RunArgs& args, int64_t output, T value) const {
    store<T>(value, static_cast<Stored*>(args.outputs[0]) + output);
  }

  // body(terms): one term of every one of `columns` neighbouring outputs, at most kWidened.
  template <typename T, typename Stored, typename Body>
  void forTerms(const Stored* from, [[maybe_unused]] int64_t columns, Body&& body) const {
    reduced.run(0, reduced.count(), reduced.count(), [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        const Stored* values = from + offsets[0] + i * steps[0];
        if constexpr (std::is_same_v<T, Stored>) {
          body(values);
        } else {
          alignas(64) std::array<T, kWidened> wide;
          halves.widen(values, wide.data(), columns);
          body(static_cast<const T*>(wide.data()));
        }
      }
    });
  }

  static constexpr int64_t kWidened = 1024;  // elements that stay in the first-level cache
  static constexpr int64_t kFew = 16;        // outputs
  static constexpr int64_t kLong = 32768;    // terms

  LoopNest kept;            // output and input
  StridedLoop reduced;      // input
  bool by_rows = true;      // neighbours in memory are terms of one output,
  bool in_one_row = false;  // which has no others
  bool in_one_run = false;  // the terms of an output lie at even distances
  bool are_wide = true;     // terms of one output lie so far apart that those of eight fit between
  HalfRows halves{};        // of input and output, where they are of 16 bits

 private:
  int64_t partsOfRow() const {
    return (reduced.count() + FoldsParts::kPart - 1) / FoldsParts::kPart;
  }

  template <typename T, typename Stored>
  void store(T value, Stored* to) const {
    if constexpr (std::is_same_v<T, Stored>) {
      *to = value;
    } else {
      halves.narrow(&value, to, 1);
    }
  }
};

}  // namespace torchtrt::kernels::reduce
