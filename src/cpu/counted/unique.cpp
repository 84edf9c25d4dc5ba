#include <algorithm>

#include "cpu/counted/counted_plugin.h"
#include "cpu/counted/plugins.h"

namespace torchtrt::kernels::counted {
namespace {

using plugin::InputView;
using plugin::OutputView;

// NaN is greater than every number and differs from itself.
template <typename T>
bool isLess(T a, T b) {
  return a < b || (a == a && b != b);
}

class Unique final : public CountedPlugin {
 public:
  static constexpr const char* kType = "Unique";

  explicit Unique(const Attributes& fields)
      : CountedPlugin(kType, fields, 4, {0, 2}), is_consecutive_(fields.getBool("consecutive")) {}

  bool supports(std::span<const DType> inputs) const override {
    return inputs.size() == 1;
  }

  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    requireOperands(inputs, 1);
    const Dims& dims = inputs[0].dims;
    if (dims.rank() != 1) {
      fail("expected an operand of one dimension, got " + dims.toString());
    }
    return {{inputs[0].dtype, dims}, {DType::kInt64, dims}, {DType::kInt64, dims}, {DType::kInt64, Dims()}};
  }

  void enqueue(std::span<const InputView> inputs, std::span<const OutputView> outputs, void* /*scratch*/,
               int /*threads*/) const override {
    visitComputeType(inputs[0].dtype, [&](auto type) { run<typename decltype(type)::type>(inputs[0], outputs); });
  }

 private:
  template <typename T>
  struct Element {
    T value;
    int64_t place;
  };

  template <typename T>
  void run(const InputView& x, std::span<const OutputView> outputs) const {
    const int64_t n = x.dims[0];
    const int64_t step = x.strides[0];
    std::vector<Element<T>> elements(static_cast<size_t>(n));
    const Reader<T> reader(x.dtype);
    for (int64_t i = 0; i < n; ++i) {
      elements[static_cast<size_t>(i)] = {reader.one(x.data, i * step), i};
    }
    if (!is_consecutive_) {  // as PyTorch does, so that each NaN and each zero gets the number that it has there
      std::sort(elements.begin(), elements.end(),
                [](const Element<T>& a, const Element<T>& b) { return isLess(a.value, b.value); });
    }
    const size_t size = sizeOf(x.dtype);
    const auto* data = static_cast<const std::byte*>(x.data);
    auto* values = static_cast<std::byte*>(outputs[0].data);
    auto* inverse = static_cast<int64_t*>(outputs[1].data);
    auto* counts = static_cast<int64_t*>(outputs[2].data);
    int64_t count = 0;
    for (size_t i = 0; i < elements.size(); ++i) {
      if (i == 0 || elements[i].value != elements[i - 1].value) {
        // The element as it was: a half type widens and narrows again, but a NaN's bits need not come through.
        copyRun(size, data + elements[i].place * step * static_cast<int64_t>(size), 1,
                values + count * static_cast<int64_t>(size), 1, 1);
        counts[count++] = 0;
      }
      ++counts[count - 1];
      inverse[elements[i].place] = count - 1;
    }
    writeCount(outputs, count);
  }

  bool is_consecutive_;
};

}  // namespace

std::shared_ptr<const plugin::PluginCreator> createUniqueCreator() {
  return std::make_shared<BuiltInCreator<Unique>>();
}

}  // namespace torchtrt::kernels::counted
