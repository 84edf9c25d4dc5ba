// A converter and the plugin it needs, in one library that torchtrt knows nothing of: aten::special_bessel_j0, which
// nothing converts, becomes a layer with a kernel of its own. For `torchtrtc --custom-converters`.
#include <cmath>
#include <vector>

#include "torchtrt/conversion.h"
#include "torchtrt/plugin.h"

namespace {

using torchtrt::Attributes;
using torchtrt::DType;
using torchtrt::TensorType;
using torchtrt::conversion::args;
using torchtrt::conversion::ConversionCtx;
using torchtrt::plugin::InputView;
using torchtrt::plugin::OutputView;

class BesselJ0 : public torchtrt::plugin::Plugin {
 public:
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
    for (int64_t i = 0; i < count; ++i) {
      int64_t offset = 0, rest = i;
      for (size_t axis = x.dims.size(); axis-- > 0;) {
        offset += rest % x.dims[axis] * x.strides[axis];
        rest /= x.dims[axis];
      }
      out[i] = static_cast<float>(::j0(static_cast<const float*>(x.data)[offset]));
    }
  }
};

class Creator : public torchtrt::plugin::PluginCreator {
 public:
  std::string pluginNamespace() const override {
    return "example";
  }
  std::string type() const override {
    return "BesselJ0";
  }
  std::unique_ptr<torchtrt::plugin::Plugin> create(const Attributes&) const override {
    return std::make_unique<BesselJ0>();
  }
};

torchtrt::plugin::CreatorList creators() {
  return {std::make_shared<Creator>()};
}

bool convert(ConversionCtx* ctx, const torch::jit::Node* n, args& args) {
  Attributes fields;
  fields.set("namespace", std::string("example"));
  fields.set("type", std::string("BesselJ0"));
  fields.set("version", std::string("1"));
  auto* layer = ctx->net->addLayer(torchtrt::network::LayerType::kPLUGIN_V2, {args[0].ITensor()}, fields);
  ctx->AssociateValueAndTensor(n->outputs()[0], layer->getOutput(0));
  return true;
}

const auto kConverter = torchtrt::conversion::RegisterNodeConversionPatterns().pattern(
    {"aten::special_bessel_j0(Tensor self) -> (Tensor)", convert});

}  // namespace

TORCHTRT_PLUGIN_LIBRARY(creators)
