#include "kernels/work.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace torchtrt::kernels {

namespace {

double countOf(const TensorDesc& desc) {
  double count = 1;
  for (const int64_t size : desc.dims) {
    count *= static_cast<double>(size);
  }
  return count;
}

double bytesOf(const TensorDesc& desc) {
  return countOf(desc) * static_cast<double>(sizeOf(desc.dtype));
}

// The size of an axis counted from the last, which is 0.
double sizeFromLast(const TensorDesc& desc, size_t axis) {
  return static_cast<double>(desc.dims[desc.dims.size() - 1 - axis]);
}

// Multiplications and additions of a product; nothing for other layers.
std::optional<double> flopsOfProduct(std::string_view family, const Attributes& attributes, const ShapeSet& shapes,
                                     double outputs) {
  const std::vector<TensorDesc>& in = shapes.inputs;
  if (family == "convolution" || family == "quantized_convolution" || family == "deconvolution") {
    const double outer = family == "deconvolution" ? countOf(in[0]) : outputs;
    const double kernels = static_cast<double>(in[1].dims[0]);
    return kernels == 0 ? 0 : 2 * outer * countOf(in[1]) / kernels;
  }
  if (family == "integer_weight_matrix_multiply") {
    return 2 * outputs * sizeFromLast(in[0], 0);
  }
  if (family == "matrix_multiply" || family == "quantized_matrix_multiply") {
    return 2 * outputs * sizeFromLast(in[0], attributes.getBool("transpose_a", false) ? 1 : 0);
  }
  if (family == "recurrent") {
    return 2 * countOf(in[0]) * sizeFromLast(in[1], 0);
  }
  if (family == "plugin_v2" && attributes.getString("type") == "Attention") {
    if (const int64_t heads = attributes.getInt("heads", 0); heads > 0) {
      const double rows = countOf(in[0]) / std::max(1.0, sizeFromLast(in[0], 0));
      const double keys = sizeFromLast(in[1], attributes.getBool("sequence_first", false) ? 2 : 1);
      const auto sizes = static_cast<double>(attributes.getInt("head_size") + attributes.getInt("value_size"));
      return 2 * rows * keys * static_cast<double>(heads) * sizes;
    }
    const double width = sizeFromLast(in[0], 0);
    const double rows = width == 0 ? 0 : countOf(in[0]) / width;
    return 2 * rows * sizeFromLast(in[2], 1) * (width + sizeFromLast(in[2], 0));
  }
  return std::nullopt;
}

// The dtype that tensor cores multiply for factors that are stored as `dtype`.
std::string_view factorsOf(const Attributes& attributes, DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return attributes.getBool("tf32", false) ? "tf32" : "";
    case DType::kFloat16:
      return "float16";
    case DType::kBFloat16:
      return "bfloat16";
    case DType::kInt8:
    case DType::kUInt8:
      return "int8";
    default:
      return "";
  }
}

}  // namespace

Work workOf(std::string_view family, const Attributes& attributes, const ShapeSet& shapes,
            const std::vector<bool>& present) {
  Work work;
  double outputs = 0;
  for (const TensorDesc& desc : shapes.outputs) {
    work.bytes += bytesOf(desc);
    outputs += countOf(desc);
  }
  const double written = work.bytes;
  const bool picks = family == "slice" || family == "gather";  // reads no more of its data than it writes
  for (size_t i = 0; i < shapes.inputs.size(); ++i) {
    if (present[i]) {
      const double bytes = bytesOf(shapes.inputs[i]);
      work.bytes += picks && i == 0 ? std::min(bytes, written) : bytes;
    }
  }
  const std::optional<double> of_product = flopsOfProduct(family, attributes, shapes, outputs);
  work.flops = of_product.value_or(outputs);
  work.factors = of_product ? factorsOf(attributes, shapes.inputs[0].dtype) : "";
  return work;
}

}  // namespace torchtrt::kernels
