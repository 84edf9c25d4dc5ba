#include <limits>

#include "conversion/converters/call.h"
#include "conversion/converters/list.h"

namespace torchtrt::conversion::converters {
namespace {

// Scale and the like may be of a wider dtype than a half-precision input; the layer has one.
Tensor* like(const Call& call, size_t i, Tensor& input) {
  Tensor* tensor = call.tensorOrNull(i);
  return tensor ? &call.cast(*tensor, input.getType()) : nullptr;
}

Tensor& normalize(const Call& call, const std::string& mode, const std::vector<Tensor*>& operands, double eps,
                  int64_t normalized_rank = 1, int64_t groups = 1) {
  return call.add(LayerType::kNORMALIZATION, operands,
                  attributes({{"mode", mode}, {"eps", eps}, {"normalized_rank", normalized_rank}, {"groups", groups}}));
}

// input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled
Tensor& batchNorm(Call& call) {
  if (call.flag(5) || call.isNone(3) || call.isNone(4)) {
    call.refuse("training", "training=True or missing running statistics, expected evaluation mode");
  }
  Tensor& x = call.tensor(0);
  return normalize(call, "batch", {&x, like(call, 1, x), like(call, 2, x), like(call, 3, x), like(call, 4, x)},
                   call.real(7));
}

// Converts instance_norm, which has use_input_stats in place of training.
Tensor& instanceNorm(Call& call) {
  Tensor& x = call.tensor(0);
  if (call.flag(5)) {
    return normalize(call, "instance", {&x, like(call, 1, x), like(call, 2, x)}, call.real(7));
  }
  return normalize(call, "batch", {&x, like(call, 1, x), like(call, 2, x), like(call, 3, x), like(call, 4, x)},
                   call.real(7));
}

// input, normalized_shape, weight, bias, eps, cudnn_enable
Tensor& layerNorm(Call& call) {
  Tensor& x = call.tensor(0);
  return normalize(call, "layer", {&x, like(call, 2, x), like(call, 3, x)}, call.real(4),
                   static_cast<int64_t>(call.dims(1).size()));
}

// input, num_groups, weight, bias, eps, cudnn_enabled
Tensor& groupNorm(Call& call) {
  Tensor& x = call.tensor(0);
  return normalize(call, "group", {&x, like(call, 2, x), like(call, 3, x)}, call.real(4), 1, call.integer(1));
}

// input, normalized_shape, weight, eps; eps None is the dtype's smallest step from 1
Tensor& rmsNorm(Call& call) {
  Tensor& x = call.tensor(0);
  const double step =
      x.getType() == DType::kFloat64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  return normalize(call, "rms", {&x, like(call, 2, x)}, call.isNone(3) ? step : call.real(3),
                   static_cast<int64_t>(call.dims(1).size()));
}

}  // namespace

void addNormalizations(NodeConverterRegistry& registry) {
  registry.add(
      "aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
      "training, float momentum, float eps, bool cudnn_enabled) -> Tensor",
      one(batchNorm));
  registry.add(
      "aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
      "use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor",
      one(instanceNorm));
  registry.add(
      "aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float "
      "eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor",
      one(layerNorm));
  registry.add(
      "aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float "
      "eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor",
      one(groupNorm));
  registry.add(
      "aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
      one(rmsNorm));
}

}  // namespace torchtrt::conversion::converters
