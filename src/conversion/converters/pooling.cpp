#include "conversion/converters/call.h"
#include "conversion/converters/list.h"

namespace torchtrt::conversion::converters {
namespace {

// The settings that both kinds share: self, kernel_size, stride (empty: the kernel's size), padding.
Attributes windowOf(const Call& call, size_t dims) {
  const std::vector<int64_t> window = call.integers(1, dims);
  const std::vector<int64_t> padding = call.integers(3, dims);
  return attributes({{"window", window},
                     {"stride", call.integers(2).empty() ? window : call.integers(2, dims)},
                     {"pre_padding", padding},
                     {"post_padding", padding}});
}

// make(indices) is a layer of maxima. Without indices, which often nobody reads, faster kernels take it.
template <typename Make>
std::vector<Tensor*> maximaAndIndices(const Call& call, Make&& make) {
  const bool indices = call.node.outputs()[1]->hasUses();
  const Layer* layer = make(indices);
  return {layer->getOutput(0), indices ? layer->getOutput(1) : &call.fill(0, Dims{0}, DType::kInt64)};
}

// self, kernel_size, stride, padding, dilation, ceil_mode
Layer* maxPoolLayer(const Call& call, size_t dims, bool indices) {
  Attributes settings = windowOf(call, dims);
  settings.set("op", std::string("max"));
  settings.set("dilation", call.integers(4, dims));
  settings.set("ceil_mode", call.flag(5));
  settings.set("return_indices", indices);
  return call.net.addLayer(LayerType::kPOOLING, {&call.tensor(0)}, settings);
}

template <size_t dims>
Tensor& maxPool(Call& call) {
  return *maxPoolLayer(call, dims, false)->getOutput(0);
}

template <size_t dims>
std::vector<Tensor*> maxPoolWithIndices(Call& call) {
  return maximaAndIndices(call, [&](bool indices) { return maxPoolLayer(call, dims, indices); });
}

// self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override (not for one dim)
template <size_t dims>
Tensor& averagePool(Call& call) {
  Attributes settings = windowOf(call, dims);
  settings.set("op", std::string("average"));
  settings.set("dilation", std::vector<int64_t>(dims, 1));
  settings.set("ceil_mode", call.flag(4));
  settings.set("count_include_pad", call.flag(5));
  settings.set("divisor", call.count() > 6 && !call.isNone(6) ? call.integer(6) : int64_t{0});
  return call.add(LayerType::kPOOLING, {&call.tensor(0)}, settings);
}

Layer* adaptivePoolLayer(const Call& call, const std::string& op, bool indices) {
  return call.net.addLayer(LayerType::kADAPTIVE_POOLING, {&call.tensor(0)},
                           attributes({{"op", op}, {"output_size", Dims(call.dims(1))}, {"return_indices", indices}}));
}

Tensor& adaptiveAveragePool(Call& call) {
  return *adaptivePoolLayer(call, "average", false)->getOutput(0);
}

std::vector<Tensor*> adaptiveMaxPool(Call& call) {
  return maximaAndIndices(call, [&](bool indices) { return adaptivePoolLayer(call, "max", indices); });
}

}  // namespace

void addPoolings(NodeConverterRegistry& registry) {
  registry.add(
      "aten::max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], "
      "bool ceil_mode=False) -> Tensor",
      one(maxPool<1>));
  registry.add(
      "aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool "
      "ceil_mode=False) -> Tensor",
      one(maxPool<2>));
  registry.add(
      "aten::max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool "
      "ceil_mode=False) -> Tensor",
      one(maxPool<3>));
  registry.add(
      "aten::max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] "
      "dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor)",
      many(maxPoolWithIndices<1>));
  registry.add(
      "aten::max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] "
      "dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
      many(maxPoolWithIndices<2>));
  registry.add(
      "aten::max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] "
      "dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
      many(maxPoolWithIndices<3>));
  registry.add(
      "aten::avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], bool ceil_mode=False, "
      "bool count_include_pad=True) -> Tensor",
      one(averagePool<1>));
  registry.add(
      "aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, "
      "bool count_include_pad=True, int? divisor_override=None) -> Tensor",
      one(averagePool<2>));
  registry.add(
      "aten::avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, "
      "bool count_include_pad=True, int? divisor_override=None) -> Tensor",
      one(averagePool<3>));
  registry.add("aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", one(adaptiveAveragePool));
  registry.add("aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", one(adaptiveAveragePool));
  registry.add("aten::adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", one(adaptiveAveragePool));
  registry.add("aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)", many(adaptiveMaxPool));
  registry.add("aten::adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)", many(adaptiveMaxPool));
  registry.add("aten::adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)", many(adaptiveMaxPool));
}

}  // namespace torchtrt::conversion::converters
