#include <algorithm>
#include <string>

#include "cpu/gemm/packed_gemm.h"
#include "cpu/matmul/plugins.h"
#include "cpu/plugin/built_in.h"
#include "cpu/storage/dense.h"
#include "cpu/threads/thread_memory.h"

namespace torchtrt::kernels::matmul {
namespace {

using plugin::InputView;
using plugin::OutputView;

[[noreturn]] void fail(const std::string& problem) {
  throw EngineError(ErrorCode::kPlugin, "GroupedProduct: " + problem);
}

bool mayBeEqual(const Dim& a, const Dim& b) {
  return !a.isConstant() || !b.isConstant() || a == b;
}

DenseOperand denseOf(const InputView& view) {
  return DenseOperand({view.dtype, {view.dims.begin(), view.dims.end()}, {view.strides.begin(), view.strides.end()}});
}

class GroupedProduct final : public plugin::Plugin {
 public:
  static constexpr const char* kType = "GroupedProduct";

  explicit GroupedProduct(const Attributes&) {}

  bool supports(std::span<const DType> inputs) const override {
    return inputs.size() == 3 && (inputs[0] == DType::kFloat32 || inputs[0] == DType::kFloat64) &&
           inputs[1] == inputs[0] && (inputs[2] == DType::kInt32 || inputs[2] == DType::kInt64);
  }

  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    if (inputs.size() != 3 || inputs[0].dims.rank() != 2 || inputs[1].dims.rank() != 3 || inputs[2].dims.rank() != 1 ||
        !mayBeEqual(inputs[0].dims[1], inputs[1].dims[1]) || !mayBeEqual(inputs[1].dims[0], inputs[2].dims[0])) {
      fail("expected [rows, depth], [groups, depth, columns] and [groups]");
    }
    return {{inputs[0].dtype, Dims({inputs[0].dims[0], inputs[1].dims[2]})}};
  }

  size_t scratchBytes(std::span<const InputView> inputs) const override {
    size_t bytes = 0;
    for (const InputView& input : inputs) {
      bytes += denseOf(input).scratchBytes();
    }
    return bytes;
  }

  void enqueue(std::span<const InputView> inputs, std::span<const OutputView> outputs, void* scratch,
               int threads) const override {
    inputs[0].dtype == DType::kFloat64 ? run<double>(inputs, outputs[0], scratch, threads)
                                       : run<float>(inputs, outputs[0], scratch, threads);
  }

 private:
  // Returns the begins of the groups, and the end of the last.
  static std::vector<int64_t> beginsOf(const int64_t* ends, int64_t groups, int64_t rows) {
    std::vector<int64_t> begins = {0};
    for (int64_t group = 0; group < groups; ++group) {
      if (ends[group] < begins.back() || ends[group] > rows) {
        throw EngineError(ErrorCode::kIndexOutOfRange, "a group of rows ends at " + std::to_string(ends[group]) +
                                                           ", expected " + std::to_string(begins.back()) + " to " +
                                                           std::to_string(rows));
      }
      begins.push_back(ends[group]);
    }
    return begins;
  }

  template <typename T>
  static void run(std::span<const InputView> inputs, const OutputView& output, void* scratch, int threads) {
    auto* free = static_cast<std::byte*>(scratch);
    const DenseOperand operands[] = {denseOf(inputs[0]), denseOf(inputs[1]), denseOf(inputs[2])};
    const T* const a = operands[0].dense<T>(threads, inputs[0].data, free);
    free += operands[0].scratchBytes();
    const T* const b = operands[1].dense<T>(threads, inputs[1].data, free);
    free += operands[1].scratchBytes();
    const auto* const ends = operands[2].dense<int64_t>(threads, inputs[2].data, free);
    const int64_t rows = inputs[0].dims[0], depth = inputs[0].dims[1];
    const int64_t groups = inputs[1].dims[0], columns = inputs[1].dims[2];
    auto* const out = static_cast<T*>(output.data);
    const std::vector<int64_t> begins = beginsOf(ends, groups, rows);
    const int64_t used = depth == 0 ? 0 : begins.back();
    std::fill(out + used * columns, out + rows * columns, T(0));
    if (used == 0 || columns == 0) {
      return;
    }
    // A group has as many rows as data say: a row's bits shall not depend on the others.
    const gemm::FunctionsOf<T> functions = gemm::functions<T>(gemm::RowOrder::kSame);
    const gemm::EpilogueOf<T> epilogue = gemm::makeEpilogue<T>("", 0, 0);
    const std::vector<gemm::PanelOf<T>> panels = gemm::panelsFor<T>(nullptr, depth, columns);
    const auto count = static_cast<int64_t>(panels.size());
    const int64_t lanes = gemm::panelShape<T>().lanes;
    // A unit is a panel of one matrix, which is packed for all rows of the group.
    parallelFor(threads, 0, groups * count, 1, [&](int64_t begin, int64_t end) {
      const auto memory = takeThreadMemory<T>(static_cast<size_t>(depth * lanes * gemm::panelShape<T>().max_vectors));
      for (int64_t unit = begin; unit < end; ++unit) {
        const auto group = static_cast<size_t>(unit / count);
        if (begins[group] == begins[group + 1]) {
          continue;
        }
        gemm::PanelOf<T> panel = panels[static_cast<size_t>(unit % count)];
        panel.data = memory.get();
        const T* const matrix = b + static_cast<int64_t>(group) * depth * columns;
        gemm::packPanel(
            panel, lanes, depth, 1, [&](int64_t k) { return matrix + k * columns; }, memory.get());
        gemm::SlabOf<T> slab{};
        slab.panels = {&panel, 1};
        slab.rows = begins[group + 1] - begins[group];
        slab.a = a + begins[group] * depth;
        slab.a_stride = depth;
        slab.run = depth;
        slab.out = out + begins[group] * columns;
        slab.out_stride = columns;
        slab.epilogue = &epilogue;
        functions.slab(slab);
      }
    });
  }
};

}  // namespace

std::shared_ptr<const plugin::PluginCreator> createGroupedProductCreator() {
  return std::make_shared<BuiltInCreator<GroupedProduct>>();
}

}  // namespace torchtrt::kernels::matmul
