#include "cpu/quantized/products/onednn_fusion.h"

#ifndef TORCHTRT_NO_ONEDNN

namespace torchtrt::kernels::quantized {
namespace {

// oneDNN adds the zero point in front of rounding. An odd one would send ties to the other neighbour than a Quantizer.
// A sum with 1.5 * 2^23 is rounded to an integer, half to even. The rest is exact.
void appendRounding(const Quantizer& quantizer, int rank, dnnl::post_ops& ops, Fusion& fusion) {
  constexpr int32_t kIntegers = 3 << 22;
  const auto append = [&](dnnl::algorithm operation, float number) {
    fusion.rounding.emplace_back(onednn::postOpArgument(ops.len()), number);
    ops.append_binary(operation, describeNumber(rank));
  };
  append(dnnl::algorithm::binary_mul, quantizer.inverse_scale);
  append(dnnl::algorithm::binary_add, kIntegers);
  fusion.zero_point -= kIntegers;
}

}  // namespace

dnnl::memory::desc describeNumber(int rank) {
  const std::vector<int64_t> ones(static_cast<size_t>(rank), 1);
  return onednn::describe(ones, ones);
}

Fusion fuse(const Product& product, const dnnl::memory::desc& residual, int rank, bool sloped) {
  const Requantization& definition = product.definition;
  Fusion fusion;
  dnnl::post_ops ops;
  const auto linear = [&](float scale, float shift) {
    ops.append_eltwise(dnnl::algorithm::eltwise_linear, scale, shift);
    fusion.has_functions = true;
  };
  if (definition.has_residual && definition.residual_dtype == DType::kFloat32) {
    fusion.residual_argument = onednn::postOpArgument(0);
    ops.append_binary(dnnl::algorithm::binary_add, residual);
  } else if (definition.has_residual) {  // y + (step - zero_point) * scale, by way of y / scale + step
    const float scale = definition.residual.scale;
    linear(1.0F / scale, 0);
    fusion.residual_argument = onednn::postOpArgument(1);
    ops.append_binary(dnnl::algorithm::binary_add, residual);
    linear(scale, -static_cast<float>(definition.residual.zero_point) * scale);
  }
  const ActivationSpec& activation = definition.activation;
  if (definition.makesSteps() && activation.op == "clip") {  // NaN, which would be the lowest step, is `alpha`
    ops.append_eltwise(dnnl::algorithm::eltwise_clip, static_cast<float>(activation.alpha),
                       static_cast<float>(activation.beta));
    fusion.has_functions = true;
  } else if (sloped && (activation.op == "relu" || activation.op == "leaky_relu")) {
    fusion.slope_argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(ops.len()) | DNNL_ARG_WEIGHTS;
    fusion.slope = activation.op == "relu" ? 0 : static_cast<float>(activation.alpha);
    ops.append_prelu(0);
  } else if (!activation.op.empty()) {
    if (onednn::appendActivation(ops, activation.op, activation.alpha, definition.to)) {
      fusion.has_functions = true;
    } else {
      fusion.rest = activationRows(activation.op, activation.alpha, activation.beta);
    }
  }
  if (definition.makesSteps()) {
    const bool is_signed = definition.to == DType::kInt8;
    const Quantizer& output = definition.output;
    if (output.low > (is_signed ? -128.0F : 0.0F) || output.high < (is_signed ? 127.0F : 255.0F)) {
      ops.append_eltwise(dnnl::algorithm::eltwise_clip, (output.low - output.zero_point) * product.output_scale,
                         (output.high - output.zero_point) * product.output_scale);
      fusion.has_functions = true;
    }
    fusion.zero_point = static_cast<int32_t>(output.zero_point);
    if (fusion.zero_point % 2 != 0) {
      appendRounding(output, rank, ops, fusion);
    } else {
      fusion.attributes.set_scales_mask(DNNL_ARG_DST, 0);
    }
    if (fusion.zero_point != 0) {
      fusion.attributes.set_zero_points_mask(DNNL_ARG_DST, 0);
    }
  }
  fusion.attributes.set_scales_mask(DNNL_ARG_WEIGHTS, product.channel_mask);
  if (product.zero_point != 0) {
    fusion.attributes.set_zero_points_mask(DNNL_ARG_SRC, 0);
  }
  fusion.attributes.set_post_ops(ops);
  fusion.attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return fusion;
}

}  // namespace torchtrt::kernels::quantized

#endif  // TORCHTRT_NO_ONEDNN
