#include "cuda/convolution/depthwise_tiles.h"

#include <algorithm>
#include <utility>

#include "base/align.h"
#include "cuda/convolution/operands.h"
#include "cuda/launch/activation.h"
#include "cuda/launch/steps.h"
#include "cuda/launch/types.h"
#include "kernels/scale.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

enum : size_t { kIn, kFilter, kBias };
enum : size_t { kBatch, kChannel, kHeight, kWidth };

constexpr int64_t kLeastTaps = 26;  // smaller windows fit into the registers of a thread

// Tiles of the device code.
struct Tiles {
  int channels, height, width, out_height, out_width;
  int padding_y, padding_x;
  int lines, places;
  int staged_lines, staged_places;
  int64_t batch, y, x;
  int64_t out_batch, out_y, out_x;
};

// Chooses how blocks of depthwise_tiles.cuh divide an output.
class Tiling {
 public:
  static constexpr int64_t kPixels = 4, kThreads = 256, kWordBytes = 4;

  Tiling(const Attributes& attributes, const Ints& filter, const TensorDesc& out)
      : stride_(attributes.getInts("stride")),
        reach_{attributes.getInts("dilation")[0] * (filter[kHeight] - 1) + 1,
               attributes.getInts("dilation")[1] * (filter[kWidth] - 1) + 1},
        taps_(filter[kHeight] * filter[kWidth]),
        out_(out.dims),
        element_bytes_(static_cast<int64_t>(sizeOf(out.dtype))) {
    constexpr int64_t kWide = 32, kNarrow = 16;
    words_ = ceilDiv(out_[kChannel], channelsOf(kWide)) * kWide > ceilDiv(out_[kChannel], channelsOf(kNarrow)) * kNarrow
                 ? kNarrow
                 : kWide;
    for (const int64_t places : {8, 16, 28, 56}) {
      for (const int64_t lines : {1, 2, 4, 8, 14}) {
        consider(std::min(lines, out_[kHeight]), std::min(places, roundUp(out_[kWidth], kPixels)));
      }
    }
  }

  bool isPossible() const {
    return lines_ > 0;
  }
  int64_t words() const {
    return words_;
  }
  int64_t lines() const {
    return lines_;
  }
  int64_t places() const {
    return places_;
  }
  int64_t stagedLines(int64_t lines) const {
    return (lines - 1) * stride_[0] + reach_[0];
  }
  // An odd number, so that the lines of a warp begin in other banks.
  int64_t stagedPlaces(int64_t places) const {
    return ((places - 1) * stride_[1] + reach_[1]) | 1;
  }
  int64_t sharedBytes() const {
    return sharedBytes(lines_, places_);
  }
  int64_t blocks() const {
    return blocks(lines_, places_);
  }

 private:
  int64_t channelsOf(int64_t words) const {
    return words * kWordBytes / element_bytes_;
  }
  int64_t sharedBytes(int64_t lines, int64_t places) const {
    return (taps_ + stagedLines(lines) * stagedPlaces(places)) * words_ * kWordBytes;
  }
  int64_t blocks(int64_t lines, int64_t places) const {
    return out_[kBatch] * ceilDiv(out_[kHeight], lines) * ceilDiv(out_[kWidth], places) *
           ceilDiv(out_[kChannel], channelsOf(words_));
  }
  // Takes a tile that lets all multiprocessors finish earlier: a block copies 64 bytes a cycle, and adds 256 products a
  // cycle in half of its cycles.
  void consider(int64_t lines, int64_t places) {
    constexpr int64_t kMostShared = int64_t{99} << 10, kProcessors = 132;
    if (sharedBytes(lines, places) > kMostShared) {
      return;
    }
    const double copying = static_cast<double>(sharedBytes(lines, places)) / 64;
    const double adding = static_cast<double>(lines * places * channelsOf(words_) * taps_) / 128;
    constexpr double kStart = 500;  // cycles
    const double cycles =
        static_cast<double>(ceilDiv(blocks(lines, places), kProcessors)) * (copying + adding + kStart);
    if (lines_ == 0 || cycles < cycles_) {
      lines_ = lines;
      places_ = places;
      cycles_ = cycles;
    }
  }

  Ints stride_, reach_;
  int64_t taps_;
  Ints out_;
  int64_t element_bytes_, words_ = 0;
  int64_t lines_ = 0, places_ = 0;  // no tile fits as long as they are 0
  double cycles_ = 0;
};

}  // namespace

int64_t chunkOfChannels(const TensorDesc& in, const TensorDesc& out) {
  const int64_t chunk = inChunk(sizeOf(out.dtype));
  bool lies_so = out.dims[kChannel] % chunk == 0;
  for (const TensorDesc* const each : {&in, &out}) {
    for (const size_t axis : {kBatch, kHeight, kWidth}) {
      lies_so = lies_so && (each->dims[axis] <= 1 || each->strides[axis] % chunk == 0);
    }
    lies_so = lies_so && each->strides[kChannel] == 1;
  }
  return lies_so ? chunk : 1;
}

std::unique_ptr<Launches> prepareDepthwiseTiles(const Layer& layer, const ShapeSet& shapes, DevicePointer weights) {
  const TensorDesc &in = shapes.inputs.at(kIn), &out = shapes.outputs.at(0);
  const Attributes& attributes = layer.attributes;
  const Ints &filter = shapes.inputs.at(kFilter).dims, &stride = attributes.getInts("stride"),
             &dilation = attributes.getInts("dilation"), &padding = attributes.getInts("pre_padding");
  const int64_t chunk = inChunk(sizeOf(out.dtype));
  if (countOf(out.dims) == 0 || countOf({filter.begin() + 2, filter.end()}) < kLeastTaps || sizeOf(out.dtype) > 4 ||
      chunkOfChannels(in, out) != chunk) {
    return nullptr;
  }
  const Tiling tiling(attributes, filter, out);
  if (!tiling.isPossible()) {
    return nullptr;
  }
  Source source;
  source.define("STORED", storedType(out.dtype)).define("A", computedType(out.dtype));
  source.define("PIXELS", Tiling::kPixels).define("WORDS", tiling.words()).define("SHARED_BYTES", tiling.sharedBytes());
  source.define("KERNEL_H", filter[kHeight]).define("KERNEL_W", filter[kWidth]);
  source.define("STRIDE_H", stride[0]).define("STRIDE_W", stride[1]);
  source.define("DILATION_H", dilation[0]).define("DILATION_W", dilation[1]);
  defineScale(source, layer.has(kernels::kScale), out.dtype);
  defineFusedActivation(source, attributes, out.dtype);
  source.include("text/storage.cuh").include("text/functions.cuh").include("text/chunks.cuh");
  source.include("text/inputs.cuh").include("text/staging.cuh").include("text/block_memory.cuh");
  source.include("convolution/depthwise_tiles.cuh");
  const auto number = [](int64_t value) { return static_cast<int>(value); };
  const Tiles tiles = {number(out.dims[kChannel]),
                       number(in.dims[kHeight]),
                       number(in.dims[kWidth]),
                       number(out.dims[kHeight]),
                       number(out.dims[kWidth]),
                       number(padding[0]),
                       number(padding[1]),
                       number(tiling.lines()),
                       number(tiling.places()),
                       number(tiling.stagedLines(tiling.lines())),
                       number(tiling.stagedPlaces(tiling.places())),
                       in.strides[kBatch],
                       in.strides[kHeight],
                       in.strides[kWidth],
                       out.strides[kBatch],
                       out.strides[kHeight],
                       out.strides[kWidth]};
  Arguments arguments;
  arguments.value(tiles).input(kIn).fixed(weights);
  addValues(arguments, layer, shapes, kernels::kScale);
  addValues(arguments, layer, shapes, kBias).output(0);
  addFusedActivation(arguments, attributes);
  Geometry geometry;
  geometry.grid[0] = static_cast<unsigned>(tiling.blocks());
  geometry.block[0] = Tiling::kThreads;
  geometry.shared_bytes = static_cast<unsigned>(tiling.sharedBytes());
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(source, "depthwise", geometry, std::move(arguments));
  return launches;
}

}  // namespace torchtrt::cuda
