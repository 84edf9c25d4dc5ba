#include "cuda/quantized/regrouped.h"

#include <utility>

#include "base/align.h"
#include "cuda/launch/aligned.h"
#include "cuda/quantized/finish.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

struct Pixels {  // Geometry of regrouped.cuh
  int height, width, padding_y, padding_x;
  int pixels_y, pixels_x;
  int64_t image, channel, y, x;
};

}  // namespace

int64_t Regrouped::Axis::newTaps() const {
  return ceilDiv(taps, group);
}

int64_t Regrouped::Axis::pixels(int64_t outputs) const {
  return (outputs - 1) * newStride() + (newTaps() - 1) * dilation + 1;
}

Regrouped::Regrouped(const Attributes& attributes, const Ints& filter) : channels_(filter[1]) {
  const auto of = [&](const char* name, size_t axis) { return attributes.getInts(name).at(axis); };
  y_ = {filter[2], of("stride", 0), of("pre_padding", 0), of("dilation", 0)};
  x_ = {filter[3], of("stride", 1), of("pre_padding", 1), of("dilation", 1)};
  if (y_.dilation != 1 || x_.dilation != 1) {
    return;
  }
  const int64_t alone = depth();
  y_.group = y_.stride;
  x_.group = x_.stride;
  if (depth() > alone) {
    y_.group = x_.group = 1;
  }
}

int64_t Regrouped::pixelBytes() const {
  return roundUp(channels_ * y_.group * x_.group, kChunkBytes);
}

int64_t Regrouped::depth() const {
  return y_.newTaps() * x_.newTaps() * pixelBytes();
}

std::vector<int64_t> Regrouped::depthSteps() const {
  std::vector<int64_t> steps;
  const int64_t pixel = pixelBytes();
  for (int64_t at = 0; at < depth(); ++at) {
    const int64_t tap = at / pixel, place = at % pixel / channels_, channel = at % pixel % channels_;
    const int64_t y = tap / x_.newTaps() * y_.group + place / x_.group;
    const int64_t x = tap % x_.newTaps() * x_.group + place % x_.group;
    const bool is_there = place < y_.group * x_.group && y < y_.taps && x < x_.taps;
    steps.push_back(is_there ? (channel * y_.taps + y) * x_.taps + x : -1);
  }
  return steps;
}

Windows Regrouped::windows(const TensorDesc& out) const {
  const auto size = [](int64_t value) { return static_cast<int>(value); };
  const int64_t pixel = pixelBytes(), height = y_.pixels(out.dims[2]), width = x_.pixels(out.dims[3]);
  return {size(pixel),
          size(x_.newTaps()),
          size(height),
          size(width),
          size(out.dims[2]),
          size(out.dims[3]),
          size(y_.newStride()),
          size(x_.newStride()),
          0,
          0,
          size(y_.dilation),
          size(x_.dilation),
          height * width * pixel,
          width * pixel,
          pixel};
}

Place Regrouped::add(Launches& launches, const ShapeSet& shapes, int32_t zero_point) const {
  const TensorDesc& in = shapes.inputs.at(kSteps);
  const Windows made = windows(shapes.outputs.at(0));
  const int64_t bytes = in.dims[0] * made.image;
  const Place place = Place::reserve(launches, bytes, DType::kUInt8);
  Source source;
  source.define("GROUP_Y", y_.group).define("GROUP_X", x_.group).define("CHANNELS", channels_);
  source.define("PIXEL", pixelBytes());
  source.include("text/storage.cuh").include("text/chunks.cuh").include("text/inputs.cuh");
  source.include("quantized/regrouped.cuh");
  Arguments arguments;
  arguments.value(bytes / kChunkBytes);
  arguments.value(Pixels{static_cast<int>(in.dims[2]), static_cast<int>(in.dims[3]), static_cast<int>(y_.padding),
                         static_cast<int>(x_.padding), made.height, made.width, in.strides[0], in.strides[1],
                         in.strides[2], in.strides[3]});
  arguments.value(static_cast<uint8_t>(zero_point)).input(kSteps);
  place.addTo(arguments);
  launches.add(source, "regroup", geometryFor(bytes / kChunkBytes), std::move(arguments));
  return place;
}

}  // namespace torchtrt::cuda
