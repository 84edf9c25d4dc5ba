#include "conversion/converters/call.h"
#include "conversion/converters/list.h"
#include "conversion/converters/plugin_layer.h"

// torchvision's operators on regions of images, and its convolution at places of their own. Both come as plugins
// (src/cpu/regions); nms is among the operators of counted.cpp.

namespace torchtrt::conversion::converters {
namespace {

void requireDType(const Call& call, const Tensor& tensor) {
  const DType dtype = tensor.getType();
  if (dtype != DType::kFloat32 && dtype != DType::kFloat64 && dtype != DType::kFloat16) {
    call.refuse("dtype", std::string("takes float32, float64 and float16, got ") + toString(dtype));
  }
}

// input, rois, spatial_scale, pooled_height, pooled_width
Layer* poolRegions(const Call& call, const char* op, bool by_position, Attributes fields = {}) {
  Tensor& images = call.tensor(0);
  Tensor& regions = call.tensor(1);
  requireDType(call, images);
  if (regions.getType() != images.getType() || images.rank() != 4 || regions.rank() != 2) {
    call.refuse("argument", "expected images of four dimensions and regions of two and of the same dtype");
  }
  const int64_t rows = call.integer(3), columns = call.integer(4);
  const auto numbers = regions.getDimensions()[1].asConstant();
  if (rows < 1 || columns < 1 || numbers != 5) {
    call.refuse("argument", "expected regions of five numbers and an output of at least 1 x 1");
  }
  if (by_position && call.number(images.getDimensions()[1], "the number of channels") % (rows * columns) != 0) {
    call.refuse("argument", "expected a multiple of rows x columns channels");
  }
  fields.set("op", op);
  fields.set("spatial_scale", call.real(2));
  fields.set("rows", rows);
  fields.set("columns", columns);
  return addPlugin(call, "PoolRegions", {&images, &regions}, std::move(fields));
}

// The channel that each place of a position-sensitive operator's output [k,c,rows,columns] reads.
Tensor& channelMapping(const Call& call, const Tensor& output) {
  const Dims& dims = output.getDimensions();
  const Dim count = dims[1] * dims[2] * dims[3];
  Tensor& channels = call.add(LayerType::kFILL, {},
                              attributes({{"op", std::string("arange")},
                                          {"dims", Dims({count})},
                                          {"dtype", DType::kInt32},
                                          {"int_value", int64_t{0}},
                                          {"int_step", int64_t{1}}}));
  return call.expand(call.reshape(channels, Dims({1, dims[1], dims[2], dims[3]})), dims);
}

std::vector<Tensor*> withMapping(const Call& call, const Layer* layer) {
  return {layer->getOutput(0), &channelMapping(call, *layer->getOutput(0))};
}

// ..., sampling_ratio, aligned
Tensor& roiAlign(Call& call) {
  Attributes fields = attributes({{"sampling_ratio", call.integer(5)}, {"aligned", call.flag(6)}});
  return *poolRegions(call, "align", false, std::move(fields))->getOutput(0);
}

// ..., sampling_ratio
std::vector<Tensor*> psRoiAlign(Call& call) {
  return withMapping(call, poolRegions(call, "align_by_position", true,
                                       attributes({{"sampling_ratio", call.integer(5)}, {"aligned", true}})));
}

std::vector<Tensor*> roiPool(Call& call) {
  const Layer* layer = poolRegions(call, "max", false);
  return {layer->getOutput(0), layer->getOutput(1)};
}

std::vector<Tensor*> psRoiPool(Call& call) {
  return withMapping(call, poolRegions(call, "mean_by_position", true));
}

void checkDeformable(const Call& call, int64_t groups, int64_t offset_groups) {
  const Tensor &input = call.tensor(0), &weight = call.tensor(1), &offset = call.tensor(2);
  requireDType(call, input);
  for (size_t i = 1; i < 5; ++i) {
    if (call.tensor(i).getType() != input.getType()) {
      call.refuse("argument", "expected tensors of one dtype");
    }
  }
  if (input.rank() != 4 || weight.rank() != 4 || offset.rank() != 4) {
    call.refuse("argument", "expected an input, a weight and offsets of four dimensions");
  }
  const int64_t channels = call.number(input.getDimensions()[1], "the number of channels");
  const int64_t channels_out = call.number(weight.getDimensions()[0], "the number of channels");
  const bool fits = groups > 0 && offset_groups > 0 && channels % offset_groups == 0 && channels_out % groups == 0 &&
                    weight.getDimensions()[1] == Dim(channels / groups) && channels % groups == 0;
  if (!fits) {
    call.refuse("argument", "the channels cannot be shared by these groups");
  }
}

// input, weight, offset, mask, bias, strides, paddings, dilations (two each), groups, offset_groups, use_mask
Tensor& deformConv2d(Call& call) {
  const int64_t groups = call.integer(11), offset_groups = call.integer(12);
  checkDeformable(call, groups, offset_groups);
  const Dims kernel = call.tensor(1).getDimensions();
  const Dims offset = call.tensor(2).getDimensions();
  const int64_t height = call.number(kernel[2], "the kernel's size"),
                width = call.number(kernel[3], "the kernel's size");
  std::vector<Tensor*> operands = {&call.tensor(0), &call.tensor(2)};
  if (call.flag(13)) {
    operands.push_back(&call.tensor(3));
  }
  const auto pair = [&](size_t i) { return std::vector<int64_t>{call.integer(i), call.integer(i + 1)}; };
  Tensor& columns = *addPlugin(call, "DeformedColumns", operands,
                               attributes({{"kernel", std::vector<int64_t>{height, width}},
                                           {"stride", pair(5)},
                                           {"padding", pair(7)},
                                           {"dilation", pair(9)},
                                           {"offset_groups", offset_groups}}))
                         ->getOutput(0);
  const Dim batch = columns.getDimensions()[0], places = columns.getDimensions()[2];
  const Dim depth = kernel[1] * kernel[2] * kernel[3];
  const Dim per_group = kernel[0].constant() / groups;
  Tensor& weights = call.reshape(call.tensor(1), Dims({1, groups, per_group, depth}));
  Tensor& product =
      call.add(LayerType::kMATRIX_MULTIPLY, {&weights, &call.reshape(columns, Dims({batch, groups, depth, places}))});
  Tensor& image = call.reshape(product, Dims({batch, kernel[0], offset[2], offset[3]}));
  return call.elementwise("sum", image, call.reshape(call.tensor(4), Dims({1, kernel[0], 1, 1})));
}

}  // namespace

void addRegions(NodeConverterRegistry& registry) {
  const std::string regions =
      "(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width";
  registry.add("torchvision::roi_align" + regions + ", int sampling_ratio, bool aligned) -> Tensor", one(roiAlign));
  registry.add("torchvision::ps_roi_align" + regions + ", int sampling_ratio) -> (Tensor, Tensor)", many(psRoiAlign));
  registry.add("torchvision::roi_pool" + regions + ") -> (Tensor, Tensor)", many(roiPool));
  registry.add("torchvision::ps_roi_pool" + regions + ") -> (Tensor, Tensor)", many(psRoiPool));
  registry.add(
      "torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt "
      "stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, "
      "SymInt offset_groups, bool use_mask) -> Tensor",
      one(deformConv2d));
}

}  // namespace torchtrt::conversion::converters
