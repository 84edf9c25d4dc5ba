#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <type_traits>

#include "cpu/loops/simple_kernel.h"
#include "cpu/plugin/built_in.h"
#include "cpu/search/plugins.h"
#include "cpu/storage/convert.h"
#include "cpu/storage/dense.h"

namespace torchtrt::kernels::search {
namespace {

using plugin::InputView;
using plugin::OutputView;

[[noreturn]] void fail(const std::string& problem) {
  throw EngineError(ErrorCode::kPlugin, "Search: " + problem);
}

constexpr int64_t kAbreast = 8;

// kAbreast values at a time, since each waits for what it reads. A search may be done in all steps but the last ones,
// in which it then reads the first boundary.
template <bool kRight, typename T>
void placeAmong(const T* bounds, int64_t count, const T* values, int64_t* places) {
  std::array<int64_t, kAbreast> begin{};
  std::array<int64_t, kAbreast> end;
  end.fill(count);
  const auto takeStep = [&](auto all_open) {
#pragma GCC unroll 8
    for (size_t i = 0; i < begin.size(); ++i) {
      const bool open = all_open || begin[i] < end[i];
      const int64_t middle = begin[i] + (end[i] - begin[i]) / 2;
      const T bound = bounds[open ? middle : 0];
      const bool before = kRight ? !(bound > values[i]) : !(bound >= values[i]);
      // Masks: the compiler would make branches of conditions, and half of them are foretold wrongly.
      begin[i] += -static_cast<int64_t>(open & before) & (middle + 1 - begin[i]);
      end[i] -= -static_cast<int64_t>(open & !before) & (end[i] - middle);
    }
  };
  const int steps = std::bit_width(static_cast<uint64_t>(count));
  const int open_steps = std::bit_width(static_cast<uint64_t>(count) + 1) - 1;
  for (int step = 0; step < open_steps; ++step) {
    takeStep(std::true_type());
  }
  for (int step = open_steps; step < steps; ++step) {
    takeStep(std::false_type());
  }
  std::copy(begin.begin(), begin.end(), places);
}

class Search final : public plugin::Plugin {
 public:
  static constexpr const char* kType = "Search";
  static constexpr const char* kFields[] = {"right", "int32"};

  explicit Search(const Attributes& fields) : right_(fields.getBool("right")), int32_(fields.getBool("int32")) {}

  bool supports(std::span<const DType> inputs) const override {
    return inputs.size() == 2 && inputs[0] == inputs[1];
  }

  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    if (inputs.size() != 2) {
      fail("expected boundaries and values");
    }
    const Dims& bounds = inputs[0].dims;
    const Dims& values = inputs[1].dims;
    bool fits = bounds.rank() == 1 || (bounds.rank() > 1 && bounds.rank() == values.rank());
    for (int axis = 0; fits && axis + 1 < bounds.rank(); ++axis) {
      const bool are_known = bounds[axis].isConstant() && values[axis].isConstant();
      fits = !are_known || bounds[axis] == values[axis];
    }
    if (!fits) {
      fail("expected boundaries of one dimension or with the leading ones of the values, got " + bounds.toString() +
           " for " + values.toString());
    }
    return {{int32_ ? DType::kInt32 : DType::kInt64, values}};
  }

  size_t scratchBytes(std::span<const InputView> inputs) const override {
    return denseOf(inputs[0]).scratchBytes() + denseOf(inputs[1]).scratchBytes();
  }

  void enqueue(std::span<const InputView> inputs, std::span<const OutputView> outputs, void* scratch,
               int threads) const override {
    visitComputeType(inputs[0].dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      right_ ? run<true, T>(inputs, outputs[0], scratch, threads) : run<false, T>(inputs, outputs[0], scratch, threads);
    });
  }

 private:
  static DenseOperand denseOf(const InputView& view) {
    return DenseOperand({view.dtype, {view.dims.begin(), view.dims.end()}, {view.strides.begin(), view.strides.end()}});
  }

  template <bool kRight, typename T>
  static void run(std::span<const InputView> inputs, const OutputView& output, void* scratch, int threads) {
    const DenseOperand dense_bounds = denseOf(inputs[0]);
    const DenseOperand dense_values = denseOf(inputs[1]);
    const T* bounds = dense_bounds.dense<T>(threads, inputs[0].data, scratch);
    const T* values =
        dense_values.dense<T>(threads, inputs[1].data, static_cast<std::byte*>(scratch) + dense_bounds.scratchBytes());
    const int64_t count = inputs[0].dims.back();
    const bool shared = inputs[0].dims.size() == 1;
    const int64_t total = countOf({inputs[1].dims.begin(), inputs[1].dims.end()});
    const int64_t row = shared ? total : inputs[1].dims.back();
    const Writer<int64_t> writer(output.dtype);
    const int64_t cost = 4 * std::bit_width(static_cast<uint64_t>(count));
    parallelFor(threads, 0, total, grainFor(cost), [&](int64_t begin, int64_t end) {
      std::array<T, kAbreast> some{};
      std::array<int64_t, kAbreast> places;
      for (int64_t i = begin; i < end;) {
        const int64_t n = std::min({kAbreast, end - i, row - i % row});
        std::copy_n(values + i, n, some.begin());
        placeAmong<kRight>(bounds + (shared ? 0 : i / row * count), count, some.data(), places.data());
        writer.write(places.data(), n, output.data, i, 1);
        i += n;
      }
    });
  }

  bool right_, int32_;
};

}  // namespace

std::shared_ptr<const plugin::PluginCreator> createSearchCreator() {
  return std::make_shared<BuiltInCreator<Search>>();
}

}  // namespace torchtrt::kernels::search
