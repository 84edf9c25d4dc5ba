#include "cpu/counted/counted_plugin.h"
#include "cpu/counted/places.h"
#include "cpu/counted/plugins.h"

namespace torchtrt::kernels::counted {
namespace {

using plugin::InputView;
using plugin::OutputView;

// The field "counted" gives the number of outputs by axis, since that follows from the operand alone.
std::vector<int64_t> firstOutputs(const Attributes& fields) {
  const auto* counted = std::get_if<std::vector<int64_t>>(fields.find("counted"));
  std::vector<int64_t> outputs(fields.getBool("by_axis") && counted != nullptr ? counted->size() : 1);
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i] = static_cast<int64_t>(i);
  }
  return outputs;
}

class NonZero final : public CountedPlugin {
 public:
  static constexpr const char* kType = "NonZero";

  explicit NonZero(const Attributes& fields)
      : CountedPlugin(kType, fields, static_cast<int>(firstOutputs(fields).size()) + 1, firstOutputs(fields)),
        by_axis_(fields.getBool("by_axis")) {}

  bool supports(std::span<const DType> inputs) const override {
    return inputs.size() == 1;
  }

  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    requireOperands(inputs, 1);
    const Dims& dims = inputs[0].dims;
    std::vector<TensorType> outputs;
    if (!by_axis_) {
      outputs.push_back({DType::kInt64, Dims({dims.numel(), dims.rank()})});
    } else {
      outputs.assign(static_cast<size_t>(dims.rank()), {DType::kInt64, Dims({dims.numel()})});
    }
    outputs.push_back({DType::kInt64, Dims()});
    if (outputs.size() != static_cast<size_t>(outputCount())) {
      fail("expected an operand of " + std::to_string(outputCount() - 1) + " dimensions, got " + dims.toString());
    }
    return outputs;
  }

  void enqueue(std::span<const InputView> inputs, std::span<const OutputView> outputs, void* /*scratch*/,
               int threads) const override {
    const std::span<const int64_t> dims = inputs[0].dims;
    // Places go by axis into outputs of their own, else into columns of the one.
    std::vector<int64_t*> columns;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      columns.push_back(by_axis_ ? static_cast<int64_t*>(outputs[axis].data)
                                 : static_cast<int64_t*>(outputs[0].data) + axis);
    }
    const auto step = by_axis_ ? 1 : static_cast<int64_t>(dims.size());
    const Places places(inputs[0], threads);
    places.forEach([&](int64_t k, int64_t place) {
      for (size_t axis = dims.size(); axis-- > 1;) {
        columns[axis][k * step] = place % dims[axis];
        place /= dims[axis];
      }
      if (!columns.empty()) {
        columns[0][k * step] = place;
      }
    });
    writeCount(outputs, places.count());
  }

 private:
  bool by_axis_;
};

}  // namespace

std::shared_ptr<const plugin::PluginCreator> createNonZeroCreator() {
  return std::make_shared<BuiltInCreator<NonZero>>();
}

}  // namespace torchtrt::kernels::counted
