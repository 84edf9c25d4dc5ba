// Fourier transforms of many rows or columns: each lane of a vector has one, so that all arithmetic is of whole vectors
// and no number of a transform touches another's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/fourier/plan.h"

namespace torchtrt::kernels::fourier {

enum class Form : uint8_t {
  kRealToHalf,  // n real numbers, the n / 2 + 1 sums that tell the others
  kRealToFull,  // all n sums
  kComplex,
  kHalfToReal,  // back from n / 2 + 1 numbers, whose first and (n even) last count as real
};

// The numbers of transform i lie from (i / inner) * outer_step + i % inner * lane_step on, `step` apart.
struct Layout {
  int64_t inner = 1;
  int64_t outer_step = 0;
  int64_t lane_step = 0;
  int64_t step = 0;
  int64_t count = 0;  // of numbers; what the transform needs beyond is 0
};

template <typename T>
struct Task {
  Form form = Form::kComplex;
  bool inverse = false;  // of kComplex; kHalfToReal always is
  T scale = 1;
  int64_t length = 0;
  const Plan<T>* plan = nullptr;  // of planLength()
  const T* twist = nullptr;       // exp(-2 pi i k / n), where n is even and one side real
  const T* window = nullptr;      // of the real side: its numbers are multiplied by these, where it is not null
  const T* in_re = nullptr;
  const T* in_im = nullptr;  // null: zero
  Layout in;
  T* out_re = nullptr;
  T* out_im = nullptr;
  Layout out;
};

// Real numbers of an even length are transformed as half as many complex ones.
inline int64_t planLength(Form form, int64_t length) {
  return form != Form::kComplex && length % 2 == 0 ? length / 2 : length;
}

template <typename T>
struct LaneFunctions {
  int64_t lanes;  // transforms that are computed together
  // Runs transforms first to first + count, at most `lanes`; `memory` has memoryLength() elements.
  void (*run)(const Task<T>& task, int64_t first, int64_t count, T* memory);
};
// Returns the functions for `count` transforms of `length` numbers in all.
template <typename T>
LaneFunctions<T> laneFunctions(int64_t count, int64_t length);

template <typename T>
int64_t memoryLength(const Task<T>& task, int64_t lanes) {
  const int64_t numbers = task.plan->bufferLength() > task.length ? task.plan->bufferLength() : task.length;
  return 2 * 2 * (numbers + 1) * lanes;
}

}  // namespace torchtrt::kernels::fourier
