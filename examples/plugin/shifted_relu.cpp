// A plugin library: one operator with a field, a shape rule, a dtype rule and a kernel.
//
//   c++ -std=c++20 -O2 -shared -fPIC -I<torchtrt>/include shifted_relu.cpp -L<torchtrt>/lib -ltorchtrt_engine
//       -o libshifted_relu.so
#include <algorithm>
#include <vector>

#include "torchtrt/plugin.h"

namespace {

using torchtrt::Attributes;
using torchtrt::DType;
using torchtrt::TensorType;
using torchtrt::plugin::InputView;
using torchtrt::plugin::OutputView;

// max(x, 0) + shift
class ShiftedRelu : public torchtrt::plugin::Plugin {
 public:
  explicit ShiftedRelu(double shift) : shift_(static_cast<float>(shift)) {}

  bool supports(std::span<const DType> inputs) const override {
    return inputs.size() == 1 && inputs[0] == DType::kFloat32;
  }
  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    return {inputs[0]};
  }
  void enqueue(std::span<const InputView> inputs, std::span<const OutputView> outputs, void*, int) const override {
    const InputView& x = inputs[0];
    auto* out = static_cast<float*>(outputs[0].data);
    std::vector<int64_t> index(x.dims.size(), 0);
    int64_t count = 1;
    for (const int64_t dim : x.dims) {
      count *= dim;
    }
    int64_t offset = 0;  // inputs may lie in any order
    for (int64_t i = 0; i < count; ++i) {
      out[i] = std::max(static_cast<const float*>(x.data)[offset], 0.0F) + shift_;
      for (size_t axis = index.size(); axis-- > 0;) {
        offset += x.strides[axis];
        if (++index[axis] < x.dims[axis]) {
          break;
        }
        offset -= index[axis] * x.strides[axis];
        index[axis] = 0;
      }
    }
  }

 private:
  float shift_;
};

class Creator : public torchtrt::plugin::PluginCreator {
 public:
  std::string pluginNamespace() const override {
    return "example";
  }
  std::string type() const override {
    return "ShiftedRelu";
  }
  std::unique_ptr<torchtrt::plugin::Plugin> create(const Attributes& fields) const override {
    return std::make_unique<ShiftedRelu>(fields.getDouble("shift", 0.0));
  }
};

torchtrt::plugin::CreatorList creators() {
  return {std::make_shared<Creator>()};
}

}  // namespace

TORCHTRT_PLUGIN_LIBRARY(creators)
