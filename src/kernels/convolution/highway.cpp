// Convolution as a matrix product whose rows of A are found through pointers: no im2col, no copy but at borders of
// narrow inputs. For float32 with constant kernels and channels-last outputs.
#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/convolution/fast.h"
#include "kernels/convolution/geometry.h"
#include "kernels/gemm/packed_gemm.h"
#include "kernels/parallel.h"

namespace torchtrt::kernels::convolution {
namespace {

using gemm::kTileRows;
using gemm::PackedB;

constexpr int64_t kMaxTaps = 512;        // pointers of a tile are on the stack
constexpr int64_t kMaxPatch = 8192;      // floats of a tile's border patches, on the stack too
constexpr int64_t kNarrowChannels = 16;  // up to here a row of taps is read as one run

// How the input is read. A run is what lies next to each other in memory and is multiplied with consecutive rows of B.
enum class Reading {
  kChannels,     // a run is the channels of one pixel; taps are depth x height x width
  kChannelRows,  // channels-last and few channels: a run is kernel width x channels; taps are depth x height
  kPlanes,       // row-major: a run is the kernel's width; taps are channels x depth x height
};

struct Packed {
  Geometry geometry;
  Reading reading = Reading::kChannels;
  int64_t taps = 0;
  int64_t run = 0;
  std::vector<PackedB> groups;
  std::vector<float> zeros;  // what padding reads, `run` of them
  gemm::Epilogue epilogue;
  gemm::Functions functions;
};

Reading chooseReading(const Geometry& g, const Operand& input) {
  if (!isChannelsLast(input) && g.channels > 1) {
    return Reading::kPlanes;
  }
  return g.groups == 1 && g.channels <= kNarrowChannels && g.dilation[2] == 1 && g.kernel[2] > 1 ? Reading::kChannelRows
                                                                                                 : Reading::kChannels;
}

PackedB packGroup(const Packed& packed, int64_t group, int threads) {
  const Geometry& g = packed.geometry;
  const int64_t channels = g.channels / g.groups;
  const int64_t outputs = g.outputs / g.groups;
  const float* weights = g.weights + group * outputs * channels * g.taps();
  const bool planes = packed.reading == Reading::kPlanes;
  const auto row = [&](int64_t k) {
    const int64_t channel = planes ? k / g.taps() : k % channels;
    const int64_t tap = planes ? k % g.taps() : k / channels;
    return weights + channel * g.taps() + tap;
  };
  return PackedB(channels * g.taps(), outputs, channels * g.taps(), row, threads);
}

// Pixel p of the whole batch lies at p times the pixel stride.
bool isFlat(const Image& image) {
  int64_t stride = image.stride[2] * image.size[2];
  for (const size_t i : {1, 0}) {
    if (image.size[i] != 1 && image.stride[i] != stride) {
      return false;
    }
    stride *= image.size[i];
  }
  return image.batch == 1 || image.batch_stride == stride;
}

// Where the window of one output pixel begins.
struct Window {
  const float* base;  // may lie outside the tensor where there is padding; only used inside
  Spatial start;
  bool inside;  // no tap touches padding
};

class HighwayConvolution final : public Prepared {
 public:
  HighwayConvolution(std::shared_ptr<const Packed> packed, const ShapeSet& shapes)
      : packed_(std::move(packed)), input_(imageOf(shapes.inputs[0])), output_(imageOf(shapes.outputs[0])) {
    const Geometry& g = packed_->geometry;
    rows_ = output_.batch * output_.pixels();
    flat_ = g.isPointwise() && packed_->reading == Reading::kChannels && isFlat(input_) && isFlat(output_);
    const int64_t per_plane = packed_->reading == Reading::kPlanes ? g.channels : 1;
    const int64_t widths = packed_->reading == Reading::kChannels ? g.kernel[2] : 1;
    for (int64_t c = 0; c < per_plane; ++c) {
      for (int64_t z = 0; z < g.kernel[0]; ++z) {
        for (int64_t y = 0; y < g.kernel[1]; ++y) {
          for (int64_t x = 0; x < widths; ++x) {
            const Spatial at = {z * g.dilation[0], y * g.dilation[1], x * g.dilation[2]};
            taps_.push_back({at, c * input_.channel_stride + at[0] * input_.stride[0] + at[1] * input_.stride[1] +
                                     at[2] * input_.stride[2]});
          }
        }
      }
    }
    blocking_ = gemm::chooseBlocking(packed_->groups[0], rows_, shapes.threads);
  }

  void run(const RunArgs& args) const override {
    if (flat_ && packed_->groups.size() == 1) {
      runFlat(args);
      return;
    }
    const int64_t units = blocking_.units() * static_cast<int64_t>(packed_->groups.size());
    parallelFor(args.threads, 0, units, blocking_.grain,
                [&](int64_t begin, int64_t end) { runUnits(args, begin, end); });
  }

 private:
  struct Tap {
    Spatial at;      // offset from the window's start
    int64_t offset;  // the same in elements
  };

  // The output pixel of a row of A: batch, depth, height, width.
  using Pixel = std::array<int64_t, 4>;

  Pixel pixelOf(int64_t row) const {
    Pixel pixel;
    for (size_t i = 4; i-- > 1;) {
      pixel[i] = row % output_.size[i - 1];
      row /= output_.size[i - 1];
    }
    pixel[0] = row;
    return pixel;
  }

  void advance(Pixel& pixel) const {
    for (size_t i = 3; i > 0; --i) {
      if (++pixel[i] < output_.size[i - 1]) {
        return;
      }
      pixel[i] = 0;
    }
    ++pixel[0];
  }

  Window windowOf(const Pixel& pixel, const float* group_input) const {
    const Geometry& g = packed_->geometry;
    Window window;
    window.inside = true;
    window.base = group_input + pixel[0] * input_.batch_stride;
    for (size_t i = 0; i < 3; ++i) {
      const int64_t start = pixel[i + 1] * g.stride[i] - g.pre_padding[i];
      window.start[i] = start;
      window.inside = window.inside && start >= 0 && start + (g.kernel[i] - 1) * g.dilation[i] < input_.size[i];
      window.base += start * input_.stride[i];
    }
    return window;
  }

  // Pointers for a window that touches padding. Runs that lie across the border are put together in `patch`.
  void borderRow(const Window& window, int r, const float** pointers, float* patch) const {
    const Geometry& g = packed_->geometry;
    const int64_t unit =
        packed_->reading == Reading::kChannelRows ? g.channels : 1;  // floats per step of the kernel's width
    for (size_t t = 0; t < taps_.size(); ++t) {
      const Tap& tap = taps_[t];
      const float*& pointer = pointers[t * kTileRows + static_cast<size_t>(r)];
      const int64_t z = window.start[0] + tap.at[0];
      const int64_t y = window.start[1] + tap.at[1];
      const int64_t x = window.start[2] + tap.at[2];
      pointer = packed_->zeros.data();
      if (z < 0 || z >= input_.size[0] || y < 0 || y >= input_.size[1]) {
        continue;
      }
      if (packed_->reading == Reading::kChannels) {
        if (x >= 0 && x < input_.size[2]) {
          pointer = window.base + tap.offset;
        }
        continue;
      }
      const int64_t first = std::clamp<int64_t>(-x, 0, g.kernel[2]);
      const int64_t last = std::clamp<int64_t>(input_.size[2] - x, first, g.kernel[2]);
      float* to = patch + (t * kTileRows + static_cast<size_t>(r)) * static_cast<size_t>(packed_->run);
      std::fill_n(to, packed_->run, 0.0F);
      if (first < last) {
        const float* from = window.base + tap.offset;
        std::copy(from + first * unit, from + last * unit, to + first * unit);
      }
      pointer = to;
    }
  }

  void findRows(const Pixel& first, int count, const float* group_input, const float** pointers, float* patch) const {
    const Geometry& g = packed_->geometry;
    if (first[3] + count <= output_.size[2]) {  // one line of the image, most often without padding
      const Window window = windowOf(first, group_input);
      const int64_t last = window.start[2] + (count - 1) * g.stride[2] + (g.kernel[2] - 1) * g.dilation[2];
      if (window.inside && last < input_.size[2]) {
        const int64_t step = g.stride[2] * input_.stride[2];
        const float** to = pointers;
        for (const Tap& tap : taps_) {
          const float* from = window.base + tap.offset;
          for (int r = 0; r < count; ++r) {
            to[r] = from + r * step;
          }
          to += kTileRows;
        }
        return;
      }
    }
    Pixel pixel = first;
    for (int r = 0; r < count; ++r, advance(pixel)) {
      const Window window = windowOf(pixel, group_input);
      if (!window.inside) {
        borderRow(window, r, pointers, patch);
        continue;
      }
      const float** to = pointers + r;
      for (const Tap& tap : taps_) {
        *to = window.base + tap.offset;
        to += kTileRows;
      }
    }
  }

  void findOutputs(const Pixel& first, int count, int64_t* offsets) const {
    Pixel pixel = first;
    for (int r = 0; r < count; ++r, advance(pixel)) {
      offsets[r] = pixel[0] * output_.batch_stride + pixel[1] * output_.stride[0] + pixel[2] * output_.stride[1] +
                   pixel[3] * output_.stride[2];
    }
  }

  void runFlat(const RunArgs& args) const {
    const Geometry& g = packed_->geometry;
    gemm::Slab slab{};
    slab.rows = rows_;
    slab.depth = packed_->run;
    slab.a = static_cast<const float*>(args.inputs[0]);
    slab.a_stride = input_.stride[2];
    slab.out = static_cast<float*>(args.outputs[0]);
    slab.out_stride = output_.stride[2];
    slab.residual = g.has_residual ? static_cast<const float*>(args.inputs[3]) : nullptr;
    slab.bias = g.has_bias ? static_cast<const float*>(args.inputs[2]) : nullptr;
    slab.epilogue = &packed_->epilogue;
    parallelFor(args.threads, 0, blocking_.units(), blocking_.grain, [&](int64_t begin, int64_t end) {
      gemm::runUnits(packed_->groups[0], blocking_, packed_->functions, slab, begin, end);
    });
  }

  void runUnits(const RunArgs& args, int64_t begin, int64_t end) const {
    const Geometry& g = packed_->geometry;
    const float* pointers[kMaxTaps * kTileRows];
    float patch[kMaxPatch];
    float* out[kTileRows];
    const float* residual[kTileRows];
    int64_t known = -1;  // (group, tile) whose pointers are there
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t tile_index = unit % blocking_.tiles;
      const int64_t block = unit / blocking_.tiles % blocking_.blocks;
      const int64_t group = unit / blocking_.units();
      const int64_t first = tile_index * kTileRows;
      const int count = static_cast<int>(std::min<int64_t>(kTileRows, rows_ - first));
      const int64_t column = group * (g.outputs / g.groups);
      if (known != group * blocking_.tiles + tile_index) {
        known = group * blocking_.tiles + tile_index;
        const int64_t channel = group * (g.channels / g.groups);
        const float* input = static_cast<const float*>(args.inputs[0]) + channel * input_.channel_stride;
        int64_t offsets[kTileRows];
        const Pixel pixel = pixelOf(first);
        findRows(pixel, count, input, pointers, patch);
        findOutputs(pixel, count, offsets);
        for (int r = 0; r < count; ++r) {
          out[r] = static_cast<float*>(args.outputs[0]) + column + offsets[r];
          residual[r] = g.has_residual ? static_cast<const float*>(args.inputs[3]) + column + offsets[r] : nullptr;
        }
      }
      const PackedB& b = packed_->groups[static_cast<size_t>(group)];
      gemm::Tile tile;
      tile.panels = gemm::panelsOf(b, blocking_, block);
      tile.row_count = count;
      tile.rows = pointers;
      tile.taps = packed_->taps;
      tile.run = packed_->run;
      tile.out = out;
      tile.residual = g.has_residual ? residual : nullptr;
      tile.bias = g.has_bias ? static_cast<const float*>(args.inputs[2]) + column : nullptr;
      tile.epilogue = &packed_->epilogue;
      packed_->functions.tile(tile);
    }
  }

  std::shared_ptr<const Packed> packed_;
  Image input_;
  Image output_;
  std::vector<Tap> taps_;
  int64_t rows_ = 0;         // output pixels of the whole batch
  gemm::Blocking blocking_;  // of one group
  bool flat_ = false;        // a plain matrix product
};

class HighwayConvolutionKernel final : public Kernel {
 public:
  explicit HighwayConvolutionKernel(std::shared_ptr<const Packed> packed) : packed_(std::move(packed)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return std::make_unique<HighwayConvolution>(packed_, shapes);
  }
  bool needsConstant(int input) const override {
    return input != 1;
  }
  size_t packedBytes() const override {
    size_t bytes = 0;
    for (const PackedB& group : packed_->groups) {
      bytes += group.bytes();
    }
    return bytes;
  }
  bool acceptsStrides(int input, const TensorDesc& desc) const override {
    if (input != 0) {
      return false;
    }
    switch (packed_->reading) {
      case Reading::kPlanes:
        return desc.strides.back() == 1;
      case Reading::kChannelRows:
        return (desc.dims[1] == 1 || desc.strides[1] == 1) && desc.strides.back() == desc.dims[1];
      case Reading::kChannels:
        break;
    }
    return desc.dims[1] == 1 || desc.strides[1] == 1;
  }

 private:
  std::shared_ptr<const Packed> packed_;
};

// By measurement (two cores, AVX-512): with a deep kernel, oneDNN's blocking over the depth wins by 15 to 20 %; with
// groups by 20 to 50 %; for the first layer of an image network, its kernel of its own by half.
bool isFasterInOneDnn(const Problem& problem, const Packed& packed) {
#ifdef TORCHTRT_NO_ONEDNN
  (void)problem, (void)packed;
  return false;
#else
  const Geometry& g = packed.geometry;
  if (problem.inputs[0].order != problem.outputs[0].order || (g.taps() == 1 && g.groups == 1)) {
    return false;
  }
  const int64_t depth = packed.taps * packed.run;
  const std::vector<int64_t>& size = problem.outputs[0].opt_dims;
  const int64_t rows = std::accumulate(size.begin() + 2, size.end(), size[0], std::multiplies<>());
  if (packed.reading == Reading::kChannels) {
    return (depth >= 512 || g.groups > 1) && rows * depth * g.outputs >= 4'000'000;
  }
  return depth < 64 && rows >= 4096;
#endif
}

}  // namespace

CreateResult createHighway(const Problem& problem) {
  std::variant<Geometry, Refusal> described = describe(problem);
  if (const Refusal* refusal = std::get_if<Refusal>(&described)) {
    return *refusal;
  }
  auto packed = std::make_shared<Packed>();
  packed->geometry = std::get<Geometry>(described);
  const Geometry& g = packed->geometry;
  if (g.outputs > 1 && !isChannelsLast(problem.outputs[0])) {
    return Refusal{"memory-order", "writes channels-last only"};
  }
  if (g.has_residual && problem.inputs[3].order != problem.outputs[0].order) {
    return Refusal{"memory-order", "reads the residual in the order of the output only"};
  }
  if (g.groups > 1 && g.outputs / g.groups < 8) {
    return Refusal{"narrow-groups", "would leave most of each vector empty with fewer than 8 outputs per group"};
  }
  packed->reading = chooseReading(g, problem.inputs[0]);
  if (packed->reading == Reading::kPlanes &&
      (g.groups > 1 || g.channels > kNarrowChannels || g.dilation[2] != 1 || !isRowMajor(problem.inputs[0]))) {
    return Refusal{"memory-order", "reads row-major images only with few channels, one group and undilated width"};
  }
  const int64_t channels = g.channels / g.groups;
  packed->run = packed->reading == Reading::kChannels      ? channels
                : packed->reading == Reading::kChannelRows ? channels * g.kernel[2]
                                                           : g.kernel[2];
  packed->taps = channels * g.taps() / packed->run;
  const bool patches = packed->reading != Reading::kChannels;
  if (packed->taps > kMaxTaps || (patches && packed->taps * packed->run * kTileRows > kMaxPatch)) {
    return Refusal{"large-kernel", "keeps the pointers of a tile on the stack, and there would be too many"};
  }
  if (isFasterInOneDnn(problem, *packed)) {
    return Refusal{"slower", "is slower than onednn for a kernel of this size"};
  }
  for (int64_t group = 0; group < g.groups; ++group) {
    packed->groups.push_back(packGroup(*packed, group, problem.threads));
  }
  packed->zeros.assign(static_cast<size_t>(packed->run), 0.0F);
  packed->epilogue = gemm::makeEpilogue(g.activation, g.alpha, g.beta);
  packed->functions = gemm::functions();
  return std::make_unique<HighwayConvolutionKernel>(std::move(packed));
}

}  // namespace torchtrt::kernels::convolution
