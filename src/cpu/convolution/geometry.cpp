#include "cpu/convolution/geometry.h"

#include <algorithm>

#include "kernels/scale.h"

namespace torchtrt::kernels::convolution {
namespace {

constexpr size_t kBias = 2;

// Right-aligns the values: the last one is the width.
Spatial spatial(const std::vector<int64_t>& values, int64_t missing) {
  Spatial result = {missing, missing, missing};
  std::copy_backward(values.begin(), values.end(), result.end());
  return result;
}

// The residual comes behind the bias.
std::variant<Geometry, Refusal> read(const Problem& problem, size_t bias, Weights weights, bool transposed) {
  const Operand& kernel = problem.inputs[1];
  if (kernel.constant == nullptr && weights == Weights::kConstant) {
    return Refusal{"dynamic-weights", "packs its kernel when it is loaded and needs it constant"};
  }
  const Attributes& attributes = *problem.attributes;
  Geometry g;
  g.spatial_rank = static_cast<int>(kernel.dims.size()) - 2;
  g.groups = attributes.getInt("groups", 1);
  setKernel(g, kernel.dims, transposed);
  g.stride = spatial(attributes.getInts("stride"), 1);
  g.dilation = spatial(attributes.getInts("dilation"), 1);
  g.pre_padding = spatial(attributes.getInts("pre_padding"), 0);
  g.post_padding = spatial(attributes.getInts("post_padding"), 0);
  g.has_bias = problem.inputs.size() > bias && problem.inputs[bias].present;
  g.has_residual = problem.inputs.size() > bias + 1 && problem.inputs[bias + 1].present;
  g.activation = attributes.getString("activation", "");
  g.alpha = attributes.getDouble("activation_alpha", 0);
  g.beta = attributes.getDouble("activation_beta", 0);
  if (g.outputs == 0 || g.channels == 0 || g.taps() == 0) {
    return Refusal{"empty", "has nothing to pack"};
  }
  return g;
}

std::variant<Geometry, Refusal> describeCommon(const Problem& problem, DType dtype, Weights weights, bool transposed) {
  std::vector<const Operand*> operands = {&problem.outputs[0]};
  const bool has_scale = hasScale(problem);
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    if (!has_scale || (i != kBias && i != kScale)) {
      operands.push_back(&problem.inputs[i]);
    }
  }
  for (const Operand* const operand : operands) {
    if (operand->present && operand->dtype != dtype) {
      return Refusal{"dtype", std::string("computes ") + toString(dtype) + " only, not " + toString(operand->dtype)};
    }
  }
  std::variant<Geometry, Refusal> described = read(problem, 2, weights, transposed);
  if (Geometry* g = std::get_if<Geometry>(&described)) {
    g->dtype = dtype;
    g->has_scale = has_scale;
    g->weights = dtype == DType::kFloat32 ? static_cast<const float*>(problem.inputs[1].constant) : nullptr;
  }
  return described;
}

}  // namespace

void setKernel(Geometry& geometry, const std::vector<int64_t>& dims, bool transposed) {
  geometry.outputs = transposed ? dims[1] * geometry.groups : dims[0];
  geometry.channels = transposed ? dims[0] : dims[1] * geometry.groups;
  geometry.kernel = spatial({dims.begin() + 2, dims.end()}, 1);
}

std::variant<Geometry, Refusal> describe(const Problem& problem, DType dtype, Weights weights) {
  return describeCommon(problem, dtype, weights, false);
}

std::variant<Geometry, Refusal> describeQuantized(const Problem& problem) {
  return read(problem, 3, Weights::kConstant, false);
}

std::variant<Geometry, Refusal> describeTransposed(const Problem& problem, Weights weights, DType dtype) {
  std::variant<Geometry, Refusal> described = describeCommon(problem, dtype, weights, true);
  if (Geometry* g = std::get_if<Geometry>(&described)) {
    const Spatial extra = spatial(problem.attributes->getInts("output_padding", {}), 0);
    for (size_t i = 0; i < extra.size(); ++i) {
      g->post_padding[i] -= extra[i];
    }
  }
  return described;
}

bool spreads(const Geometry& geometry) {
  constexpr Spatial kNone = {0, 0, 0}, kOne = {1, 1, 1};
  return geometry.groups == 1 && geometry.kernel == geometry.stride && geometry.pre_padding == kNone &&
         geometry.post_padding == kNone && geometry.dilation == kOne;
}

Image imageOf(const TensorDesc& desc) {
  Image image;
  image.batch = desc.dims[0];
  image.channels = desc.dims[1];
  image.batch_stride = desc.strides[0];
  image.channel_stride = desc.strides[1];
  image.size = spatial({desc.dims.begin() + 2, desc.dims.end()}, 1);
  image.stride = spatial({desc.strides.begin() + 2, desc.strides.end()}, 0);
  return image;
}

const float** findLines(const Geometry& geometry, const Image& input, const float* channel, int64_t out_depth,
                        int64_t out_height, const float** lines) {
  const Geometry& g = geometry;
  for (int64_t kz = 0; kz < g.kernel[0]; ++kz) {
    const int64_t z = out_depth * g.stride[0] - g.pre_padding[0] + kz * g.dilation[0];
    for (int64_t ky = 0; ky < g.kernel[1]; ++ky) {
      const int64_t y = out_height * g.stride[1] - g.pre_padding[1] + ky * g.dilation[1];
      const bool exists = z >= 0 && z < input.size[0] && y >= 0 && y < input.size[1];
      *lines++ = exists ? channel + z * input.stride[0] + y * input.stride[1] : nullptr;
    }
  }
  return lines;
}

bool isFlat(const Image& image, int64_t step) {
  int64_t stride = step;
  for (size_t i = 3; i-- > 0;) {
    if (image.size[i] != 1 && image.stride[i] != stride) {
      return false;
    }
    stride *= image.size[i];
  }
  return image.batch == 1 || image.batch_stride == stride;
}

bool isChannelsLast(const Operand& operand) {
  if (isRowMajor(operand)) {
    return std::all_of(operand.dims.begin() + 2, operand.dims.end(), [](int64_t size) { return size == 1; });
  }
  const size_t rank = operand.order.size();
  if (operand.order[0] != 0 || operand.order[rank - 1] != 1) {
    return false;
  }
  for (size_t i = 1; i + 1 < rank; ++i) {
    if (operand.order[i] != i + 1) {
      return false;
    }
  }
  return true;
}

}  // namespace torchtrt::kernels::convolution
