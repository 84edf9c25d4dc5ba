#include <cstring>

#include "cpu/counted/counted_plugin.h"
#include "cpu/counted/places.h"
#include "cpu/counted/plugins.h"

namespace torchtrt::kernels::counted {
namespace {

using plugin::InputView;
using plugin::OutputView;

class MaskedRows final : public CountedPlugin {
 public:
  static constexpr const char* kType = "MaskedRows";

  explicit MaskedRows(const Attributes& fields) : CountedPlugin(kType, fields, 2, {0}) {}

  bool supports(std::span<const DType> inputs) const override {
    return inputs.size() == 2 && inputs[1] == DType::kBool;
  }

  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    requireOperands(inputs, 2);
    const Dims& rows = inputs[0].dims;
    const Dims& mask = inputs[1].dims;
    const bool fits =
        rows.rank() > 0 && mask.rank() == 1 && (!rows[0].isConstant() || !mask[0].isConstant() || rows[0] == mask[0]);
    if (!fits) {
      fail("expected a mask with an entry for each row of " + rows.toString() + ", got " + mask.toString());
    }
    return {{inputs[0].dtype, rows}, {DType::kInt64, Dims()}};
  }

  void enqueue(std::span<const InputView> inputs, std::span<const OutputView> outputs, void* /*scratch*/,
               int threads) const override {
    const InputView& x = inputs[0];
    const std::vector<int64_t> row_dims(x.dims.begin() + 1, x.dims.end());
    const std::vector<int64_t> row_strides(x.strides.begin() + 1, x.strides.end());
    const int64_t row_elements = countOf(row_dims);
    const auto size = static_cast<int64_t>(sizeOf(x.dtype));
    const auto* data = static_cast<const std::byte*>(x.data);
    auto* out = static_cast<std::byte*>(outputs[0].data);
    const bool is_dense = row_strides == denseStrides(row_dims);
    const FlatCursor start(row_dims, row_strides);
    const Places places(inputs[1], threads);
    places.forEach([&](int64_t k, int64_t place) {
      const std::byte* row = data + place * x.strides[0] * size;
      std::byte* target = out + k * row_elements * size;
      if (is_dense) {
        std::memcpy(target, row, static_cast<size_t>(row_elements * size));
        return;
      }
      FlatCursor cursor = start;
      for (int64_t at = 0; at < row_elements;) {
        const int64_t n = cursor.runLength();
        copyRun(static_cast<size_t>(size), row + cursor.offset() * size, cursor.step(), target + at * size, 1, n);
        at += n;
        cursor.advance(n);
      }
    });
    writeCount(outputs, places.count());
  }
};

}  // namespace

std::shared_ptr<const plugin::PluginCreator> createMaskedRowsCreator() {
  return std::make_shared<BuiltInCreator<MaskedRows>>();
}

}  // namespace torchtrt::kernels::counted
