#include "cpu/convolution/direct/row.h"

#include <algorithm>

#include "device/constants.h"

namespace torchtrt::kernels::convolution {

std::optional<Refusal> refuseRows(const Problem& problem, const Geometry& geometry) {
  if (!isChannelsLast(problem.inputs[0]) || (geometry.outputs > 1 && !isChannelsLast(problem.outputs[0]))) {
    return Refusal{"memory-order", "reads and writes channels-last only"};
  }
  if (geometry.has_residual) {
    return Refusal{"residual", "has no residual operand"};
  }
  if (geometry.kernel[0] * geometry.kernel[1] > kMaxRowLines) {
    return Refusal{"large-kernel", "keeps a pointer per line of the kernel on the stack, and there would be too many"};
  }
  return std::nullopt;
}

void allocate(PackedRows& packed, const Geometry& geometry, int64_t floats, int64_t zeros) {
  packed.geometry = geometry;
  packed.bytes = static_cast<size_t>(floats) * sizeof(float);
  packed.weights = std::static_pointer_cast<float>(device::allocateConstant(packed.bytes, "packing weights"));
  std::fill_n(packed.weights.get(), floats, 0.0F);
  packed.zeros.assign(static_cast<size_t>(zeros), 0.0F);
  packed.epilogue = gemm::makeEpilogue(geometry.activation, geometry.alpha, geometry.beta);
}

Row rowTo(const PackedRows& packed, const Image& input, const Image& output, const RunArgs& args, const Pixel& first) {
  const Geometry& g = packed.geometry;
  Row row{};
  row.zeros = packed.zeros.data();
  row.bias = g.has_bias ? static_cast<const float*>(args.inputs[2]) : nullptr;
  row.out = static_cast<float*>(args.outputs[0]) + output.offsetOf(first);
  row.line_taps = g.kernel[0] * g.kernel[1];
  row.width_taps = g.kernel[2];
  row.stride = g.stride[2];
  row.dilation = g.dilation[2];
  row.padding = g.pre_padding[2];
  row.width = input.size[2];
  row.columns = output.size[2];
  row.pixel_stride = input.stride[2];
  row.out_stride = output.stride[2];
  row.epilogue = &packed.epilogue;
  return row;
}

Row rowAt(const PackedRows& packed, const Image& input, const Image& output, const RunArgs& args, const Pixel& first,
          const float** lines) {
  const float* image = static_cast<const float*>(args.inputs[0]) + first[0] * input.batch_stride;
  Row row = rowTo(packed, input, output, args, first);
  findLines(packed.geometry, input, image, first[1], first[2], lines);
  row.lines = lines;
  return row;
}

}  // namespace torchtrt::kernels::convolution
