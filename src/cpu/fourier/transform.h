// A transform made ready for both floating types, and its run over all lanes of a tensor, for the plugins of this
// folder.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "cpu/fourier/lanes.h"
#include "cpu/storage/dense.h"
#include "cpu/threads/parallel.h"
#include "cpu/threads/thread_memory.h"
#include "torchtrt/plugin.h"

namespace torchtrt::kernels::fourier {

template <typename T>
struct Tables {
  Tables(Form form, int64_t length) : plan(planLength(form, length)) {
    for (int64_t k = 0; 2 * k <= length; ++k) {
      addRoot(k, length, twist);
    }
  }

  Plan<T> plan;
  std::vector<T> twist;
};

// Makes the tables of a floating type when that is first asked for.
class Transform {
 public:
  Transform(Form form, int64_t length) : form_(form), length_(length) {}

  int64_t length() const {
    return length_;
  }
  int64_t sums() const {
    return length_ / 2 + 1;
  }

  template <typename T>
  Task<T> task(double scale) const {
    const Tables<T>& made = tables<T>();
    Task<T> task;
    task.form = form_;
    task.scale = static_cast<T>(scale);
    task.length = length_;
    task.plan = &made.plan;
    task.twist = made.twist.data();
    return task;
  }

 private:
  template <typename T>
  const Tables<T>& tables() const {
    const std::lock_guard lock(mutex_);
    auto& made = std::get<std::unique_ptr<Tables<T>>>(tables_);
    if (!made) {
      made = std::make_unique<Tables<T>>(form_, length_);
    }
    return *made;
  }

  Form form_;
  int64_t length_;
  mutable std::mutex mutex_;
  mutable std::tuple<std::unique_ptr<Tables<float>>, std::unique_ptr<Tables<double>>> tables_;
};

// Transforms 0 to `count` of a task.
template <typename T>
void runAll(const Task<T>& task, int64_t count, int threads) {
  const LaneFunctions<T> functions = laneFunctions<T>(count, task.length);
  const int64_t blocks = (count + functions.lanes - 1) / functions.lanes;
  const int64_t grain = std::max<int64_t>(1, 2048 / task.length);
  parallelFor(threads, 0, blocks, grain, [&](int64_t begin, int64_t end) {
    const ThreadMemory<T> memory = takeThreadMemory<T>(static_cast<size_t>(memoryLength(task, functions.lanes)));
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * functions.lanes;
      functions.run(task, first, std::min(functions.lanes, count - first), memory.get());
    }
  });
}

inline DenseOperand denseOf(const plugin::InputView& view) {
  return DenseOperand({view.dtype, {view.dims.begin(), view.dims.end()}, {view.strides.begin(), view.strides.end()}});
}

inline size_t denseBytes(std::span<const plugin::InputView> inputs) {
  size_t bytes = 0;
  for (const plugin::InputView& input : inputs) {
    bytes += denseOf(input).scratchBytes();
  }
  return bytes;
}

// Row-major operands, behind each other in scratch memory where they are none; `scratch` points behind them then.
template <typename T>
std::vector<const T*> denseOperands(std::span<const plugin::InputView> inputs, std::byte*& scratch, int threads) {
  std::vector<const T*> pointers;
  for (const plugin::InputView& input : inputs) {
    const DenseOperand operand = denseOf(input);
    pointers.push_back(operand.dense<T>(threads, input.data, scratch));
    scratch += operand.scratchBytes();
  }
  return pointers;
}

// Calls visit(T()) for float32 or float64.
template <typename Visit>
void visitFloating(DType dtype, Visit&& visit) {
  if (dtype == DType::kFloat64) {
    visit(double());
  } else {
    visit(float());
  }
}

inline bool areFloating(std::span<const DType> inputs) {
  const bool is_floating = !inputs.empty() && (inputs[0] == DType::kFloat32 || inputs[0] == DType::kFloat64);
  return is_floating && std::all_of(inputs.begin(), inputs.end(), [&](DType dtype) { return dtype == inputs[0]; });
}

}  // namespace torchtrt::kernels::fourier
