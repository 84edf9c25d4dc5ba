// 3x3 convolution with stride 1 by Winograd's F(2x2, 3x3) and F(4x4, 3x3) (Lavin and Gray, arXiv:1509.09308): 16
// multiplications for 4 outputs, or 36 for 16, where the plain sum takes 36 and 144. F(4x4) is that of the points 0,
// +-1/sqrt(2), +-sqrt(2) and infinity, and products are summed in short runs: so errors are no larger than those of the
// plain sum (docs/decisions/0007-winograd.md). An infinity or NaN would spread over its tile, and what is large over
// what is small beside it: such tiles are computed by the plain sum.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/convolution/fast.h"
#include "kernels/convolution/geometry.h"
#include "kernels/convolution/winograd_tile.h"
#include "kernels/parallel.h"

namespace torchtrt::kernels::convolution {
namespace {

using gemm::PackedB;

constexpr int64_t kWidest = 16;  // floats of the longest vector
constexpr int64_t kTaps = 9;

int64_t tilesAlong(int64_t tile, int64_t size) {
  return (size + tile - 1) / tile;
}

struct Packed {
  Geometry geometry;
  int64_t tile = 2;               // outputs of a tile, in height and in width
  std::vector<PackedB> products;  // [channels, outputs] for each value of a patch
  int64_t run = kWidest;          // channels that are summed together, before the sums of runs are
  std::vector<int64_t> run_offsets;
  std::vector<float> zeros;  // a pixel of padding
  gemm::Epilogue epilogue;
  gemm::Epilogue none;
  gemm::Functions gemm;
  WinogradFunctions functions;

  int64_t side() const {  // of a patch
    return tile + 2;
  }
  int64_t patch() const {
    return side() * side();
  }
};

// G of both: a kernel's line of three brought to the points.
using Row = std::array<double, 3>;
constexpr double kRoot = 1.41421356237309504880;
constexpr std::array<Row, 4> kSmallG = {{{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}}};
constexpr std::array<Row, 6> kLargeG = {{{1, 0, 0},
                                         {-2. / 3, -kRoot / 3, -1. / 3},
                                         {-2. / 3, kRoot / 3, -1. / 3},
                                         {1. / 6, kRoot / 6, 1. / 3},
                                         {1. / 6, -kRoot / 6, 1. / 3},
                                         {0, 0, 1}}};

double dot(const Row& row, double a, double b, double c) {
  return row[0] * a + row[1] * b + row[2] * c;
}

// G g G^T of all kernels, rounded once: [patch][channels][outputs].
std::vector<float> transformWeights(const Packed& packed, int threads) {
  const Geometry& g = packed.geometry;
  const Row* rows = packed.tile == 2 ? kSmallG.data() : kLargeG.data();
  const int64_t side = packed.side();
  std::vector<float> all(static_cast<size_t>(packed.patch() * g.channels * g.outputs));
  parallelFor(threads, 0, g.channels, 16, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      for (int64_t n = 0; n < g.outputs; ++n) {
        const float* w = g.weights + (n * g.channels + c) * kTaps;
        float* to = all.data() + c * g.outputs + n;
        for (int64_t y = 0; y < side; ++y) {
          const Row line = {dot(rows[y], w[0], w[3], w[6]), dot(rows[y], w[1], w[4], w[7]),
                            dot(rows[y], w[2], w[5], w[8])};
          for (int64_t x = 0; x < side; ++x) {
            *to = static_cast<float>(dot(rows[x], line[0], line[1], line[2]));
            to += g.channels * g.outputs;
          }
        }
      }
    }
  });
  return all;
}

class WinogradConvolution final : public Prepared {
 public:
  WinogradConvolution(std::shared_ptr<const Packed> packed, const ShapeSet& shapes)
      : packed_(std::move(packed)),
        input_(imageOf(shapes.inputs[0])),
        output_(imageOf(shapes.outputs[0])),
        threads_(shapes.threads) {
    tile_rows_ = tilesAlong(packed_->tile, output_.size[1]);
    tile_columns_ = tilesAlong(packed_->tile, output_.size[2]);
    const int64_t tiles = output_.batch * tile_rows_ * tile_columns_;
    const Geometry& g = packed_->geometry;
    const int64_t kernel_bytes = packed_->patch() * g.channels * g.outputs * kFloat;
    by_product_ = kernel_bytes > kLargeKernels;
    const int64_t tile_bytes = packed_->patch() * kFloat * (g.channels + g.outputs);
    const int64_t most = by_product_
                             ? kTilesOfProducts
                             : std::clamp<int64_t>(kChunkBytes / tile_bytes, 3 * gemm::kTileRows, 8 * gemm::kTileRows);
    const int64_t together = by_product_ ? 1 : threads_;  // chunks at a time
    const int64_t rounds = (tiles + most * together - 1) / (most * together);
    // Cut between rows of the same kernel of the product: results do not depend on the number of threads.
    groups_ = (tiles + gemm::kTileRows - 1) / gemm::kTileRows;
    chunks_ = std::min(rounds * together, groups_);
    chunk_tiles_ = chunks_ == 0 ? 0 : (groups_ + chunks_ - 1) / chunks_ * gemm::kTileRows;
  }

  size_t scratchBytes() const override {
    return static_cast<size_t>((by_product_ ? 1 : threads_) * chunkFloats()) * sizeof(float);
  }

  void run(const RunArgs& args) const override {
    auto* scratch = static_cast<float*>(args.scratch);
    if (by_product_) {
      for (int64_t chunk = 0; chunk < chunks_; ++chunk) {
        runChunk(args, scratch, chunk, args.threads);
      }
      return;
    }
    std::atomic<int64_t> parts = 0;
    parallelFor(args.threads, 0, chunks_, 1, [&](int64_t begin, int64_t end) {
      float* own = scratch + parts.fetch_add(1) * chunkFloats();
      for (int64_t chunk = begin; chunk < end; ++chunk) {
        runChunk(args, own, chunk, 1);
      }
    });
  }

 private:
  // Small kernels: threads take chunks of tiles whose patches and products stay in their second-level cache. Large ones
  // come from memory in every call and are shared out: all threads work on one chunk, each on products of its own.
  static constexpr int64_t kFloat = sizeof(float);
  static constexpr int64_t kChunkBytes = 400 * 1024;
  static constexpr int64_t kLargeKernels = 2 * 1024 * 1024;
  static constexpr int64_t kTilesOfProducts = 128;

  // Where a tile lies.
  struct Place {
    int64_t image;
    int64_t y;  // of the first output pixel, as is x
    int64_t x;
  };

  // Floats from one value of the patches to the next, and from one product to the next. Not a multiple of a page: the
  // same element of all of them would fall into the few lines of one set of the first-level cache.
  int64_t patchStep() const {
    return chunk_tiles_ * packed_->geometry.channels + kWidest;
  }
  int64_t productStep() const {
    return chunk_tiles_ * packed_->geometry.outputs + kWidest;
  }
  int64_t chunkFloats() const {
    return packed_->patch() * (patchStep() + productStep());
  }

  Place placeOf(int64_t tile) const {
    const int64_t x = tile % tile_columns_;
    tile /= tile_columns_;
    return {tile / tile_rows_, packed_->tile * (tile % tile_rows_), packed_->tile * x};
  }

  // The input pixel `y`, `x` of an image, null in the padding.
  const float* pixel(const RunArgs& args, int64_t image, int64_t y, int64_t x) const {
    if (y < 0 || y >= input_.size[1] || x < 0 || x >= input_.size[2]) {
      return nullptr;
    }
    return static_cast<const float*>(args.inputs[0]) + image * input_.batch_stride + y * input_.stride[1] +
           x * input_.stride[2];
  }

  void runChunk(const RunArgs& args, float* scratch, int64_t chunk, int threads) const {
    const int64_t first = groups_ * chunk / chunks_ * gemm::kTileRows;
    const int64_t end =
        std::min(groups_ * (chunk + 1) / chunks_ * gemm::kTileRows, output_.batch * tile_rows_ * tile_columns_);
    const int64_t count = end - first;
    float* patches = scratch;
    float* products = scratch + packed_->patch() * patchStep();
    parallelFor(threads, 0, count, gemm::kTileRows, [&](int64_t t, int64_t last) {
      for (; t < last; ++t) {
        startTile(args, placeOf(first + t), patches + t * packed_->geometry.channels);
      }
    });
    parallelFor(threads, 0, packed_->patch(), 1, [&](int64_t i, int64_t last) {
      for (; i < last; ++i) {
        multiply(i, i + 1 < last ? i + 1 : -1, count, patches, products);
      }
    });
    parallelFor(threads, 0, count, gemm::kTileRows, [&](int64_t t, int64_t last) {
      for (; t < last; ++t) {
        finishTile(args, placeOf(first + t), products + t * packed_->geometry.outputs,
                   patches + t * packed_->patch() * packed_->geometry.channels);
      }
    });
  }

  void startTile(const RunArgs& args, const Place& place, float* patch) const {
    const Geometry& g = packed_->geometry;
    WinogradInput tile;
    size_t i = 0;
    for (int64_t y = 0; y < packed_->side(); ++y) {
      for (int64_t x = 0; x < packed_->side(); ++x) {
        const float* from = pixel(args, place.image, place.y - g.pre_padding[1] + y, place.x - g.pre_padding[2] + x);
        tile.pixels[i++] = from == nullptr ? packed_->zeros.data() : from;
      }
    }
    tile.to = patch;
    tile.step = patchStep();
    tile.channels = g.channels;
    packed_->functions.input(tile);
  }

  // Product i of `count` tiles; that of `next` comes after it, or none if negative. By blocks of panels: the one in use
  // and the one that is fetched meanwhile share the second-level cache.
  void multiply(int64_t i, int64_t next, int64_t count, const float* patches, float* products) const {
    const Geometry& g = packed_->geometry;
    const PackedB& kernels = packed_->products[static_cast<size_t>(i)];
    const gemm::Blocking blocking = gemm::chooseBlocking(kernels, count, 1);
    gemm::Slab slab{};
    slab.rows = count;
    slab.a = patches + i * patchStep();
    slab.a_stride = g.channels;
    slab.run = packed_->run;
    slab.taps = static_cast<int64_t>(packed_->run_offsets.size());
    slab.tap_offsets = packed_->run_offsets.data();
    slab.out = products + i * productStep();
    slab.out_stride = g.outputs;
    slab.epilogue = &packed_->none;
    for (int64_t block = 0; block < blocking.blocks; ++block) {
      slab.panels = gemm::panelsOf(kernels, blocking, block);
      slab.ahead = block + 1 < blocking.blocks ? gemm::panelsOf(kernels, blocking, block + 1).front().data
                   : next < 0                  ? nullptr
                                               : packed_->products[static_cast<size_t>(next)].panels().front().data;
      packed_->gemm.slab_of_short_sums(slab);
    }
  }

  // The patches are not needed any more: `scratch` is this tile's share of them.
  void finishTile(const RunArgs& args, const Place& place, const float* products, float* scratch) const {
    const Geometry& g = packed_->geometry;
    WinogradOutput tile;
    tile.from = products;
    tile.step = productStep();
    tile.bias = g.has_bias ? static_cast<const float*>(args.inputs[2]) : nullptr;
    tile.columns = g.outputs;
    tile.epilogue = &packed_->epilogue;
    forEachOutput(place, [&](size_t i, int64_t y, int64_t x) {
      const bool exists = y < output_.size[1] && x < output_.size[2];
      const int64_t offset = place.image * output_.batch_stride + y * output_.stride[1] + x * output_.stride[2];
      tile.out[i] = exists ? static_cast<float*>(args.outputs[0]) + offset : nullptr;
      tile.residual[i] = exists && g.has_residual ? static_cast<const float*>(args.inputs[3]) + offset : nullptr;
    });
    if (packed_->functions.output(tile)) {
      return;
    }
    sumPlainly(args, place, tile, scratch);
  }

  // body(index in the tile, y, x of the output) for all of a tile, also those outside of the image.
  template <typename Body>
  void forEachOutput(const Place& place, const Body& body) const {
    size_t i = 0;
    for (int64_t y = 0; y < packed_->tile; ++y) {
      for (int64_t x = 0; x < packed_->tile; ++x) {
        body(i++, place.y + y, place.x + x);
      }
    }
  }

  // The outputs of a tile as the definition has them.
  void sumPlainly(const RunArgs& args, const Place& place, const WinogradOutput& tile, float* scratch) const {
    const Geometry& g = packed_->geometry;
    WinogradPlain plain{};
    plain.weights = static_cast<const float*>(args.inputs[1]);
    plain.bias = tile.bias;
    plain.length = kTaps * g.channels;
    plain.columns = g.outputs;
    const int64_t together = packed_->patch() / kTaps;  // windows that there is room for
    for (int64_t first = 0; first < packed_->tile * packed_->tile; first += together) {
      for (int64_t w = 0; w < kMostWindows; ++w) {
        const int64_t i = first + std::min(w, together - 1);  // those that there is no room for repeat the last
        const auto at = static_cast<size_t>(w);
        float* window = scratch + (i - first) * plain.length;
        plain.windows[at] = window;
        plain.out[at] = tile.out[static_cast<size_t>(i)];
        plain.residual[at] = tile.residual[static_cast<size_t>(i)];
        if (w < together) {
          gatherWindow(args, place.image, place.y + i / packed_->tile, place.x + i % packed_->tile, window);
        }
      }
      packed_->functions.plain(plain);
      for (int64_t i = first; i < first + together; ++i) {
        if (float* out = tile.out[static_cast<size_t>(i)]) {
          packed_->functions.finish(packed_->epilogue, out, g.outputs);
        }
      }
    }
  }

  // What an output pixel depends on, in the order of the weights.
  void gatherWindow(const RunArgs& args, int64_t image, int64_t y, int64_t x, float* to) const {
    const Geometry& g = packed_->geometry;
    for (int64_t t = 0; t < kTaps; ++t) {
      const float* from = pixel(args, image, y - g.pre_padding[1] + t / 3, x - g.pre_padding[2] + t % 3);
      for (int64_t c = 0; c < g.channels; ++c) {
        to[c * kTaps + t] = from == nullptr ? 0.0F : from[c];
      }
    }
  }

  std::shared_ptr<const Packed> packed_;
  Image input_;
  Image output_;
  int64_t threads_;
  bool by_product_ = false;
  int64_t tile_rows_ = 0;
  int64_t tile_columns_ = 0;
  int64_t groups_ = 0;       // of up to kTileRows tiles
  int64_t chunks_ = 0;       // of whole groups, as even as they can be
  int64_t chunk_tiles_ = 0;  // most tiles of a chunk
};

class WinogradKernel final : public Kernel {
 public:
  explicit WinogradKernel(std::shared_ptr<const Packed> packed) : packed_(std::move(packed)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return std::make_unique<WinogradConvolution>(packed_, shapes);
  }
  size_t packedBytes() const override {
    size_t bytes = 0;
    for (const PackedB& product : packed_->products) {
      bytes += product.bytes();
    }
    return bytes;
  }
  bool acceptsStrides(int input, const TensorDesc& desc) const override {
    return input == 0 && desc.strides[1] == 1;
  }

 private:
  std::shared_ptr<const Packed> packed_;
};

// What the plain sum costs, in multiply-adds per channel and output.
double costOfPlainSum(int64_t pixels, double least_rows) {
  return 9 * std::max(static_cast<double>(pixels), least_rows);
}

double costOfTiles(int64_t tile, const std::vector<int64_t>& size, const Geometry& g, double least_rows) {
  constexpr int64_t kMostKernels = int64_t{32} << 20;  // floats: they are kept, and once more while they are packed
  if ((tile + 2) * (tile + 2) * g.channels * g.outputs > kMostKernels) {
    return std::numeric_limits<double>::infinity();
  }
  const double transforms = tile == 2 ? 100 : 350;  // by measurement (two cores, AVX2), per tile and channel
  const auto tiles = static_cast<double>(size[0] * tilesAlong(tile, size[2]) * tilesAlong(tile, size[3]));
  const double channels = 1.0 / static_cast<double>(g.channels) + 1.0 / static_cast<double>(g.outputs);
  return static_cast<double>((tile + 2) * (tile + 2)) * std::max(tiles, least_rows) + tiles * transforms * channels;
}

// The tile that costs least, or 0 if the plain sum does. With few rows, products wait for kernels from memory: then
// larger kernels are a loss. The longer the vectors, the more rows a kernel has to serve.
int64_t chooseTile(const Problem& problem, const Geometry& g) {
  const int64_t lanes = winogradFunctions(2).lanes;
  if (g.outputs < 2 * lanes) {
    return 0;  // products of a single vector wait for each multiply-add
  }
  const double least_rows = 3.0 * static_cast<double>(lanes);
  const std::vector<int64_t>& size = problem.outputs[0].opt_dims;
  const double plain = costOfPlainSum(size[0] * size[2] * size[3], least_rows);
  const double small = costOfTiles(2, size, g, least_rows);
  const double large = costOfTiles(4, size, g, least_rows);
  if (std::min(small, large) > 0.9 * plain) {
    return 0;
  }
  return small <= large ? 2 : 4;
}

}  // namespace

CreateResult createWinograd(const Problem& problem) {
  std::variant<Geometry, Refusal> described = describe(problem);
  if (const Refusal* refusal = std::get_if<Refusal>(&described)) {
    return *refusal;
  }
  const Geometry& g = std::get<Geometry>(described);
  if (g.spatial_rank != 2 || g.kernel != Spatial{1, 3, 3} || g.stride != Spatial{1, 1, 1} ||
      g.dilation != Spatial{1, 1, 1} || g.groups != 1) {
    return Refusal{"kernel", "computes undilated 3x3 kernels with stride 1 and one group only"};
  }
  if (g.channels % kWidest != 0 || g.outputs % kWidest != 0) {
    return Refusal{"channels", "takes multiples of 16 channels only"};
  }
  if (!isChannelsLast(problem.inputs[0]) || !isChannelsLast(problem.outputs[0]) ||
      (g.has_residual && problem.inputs[3].order != problem.outputs[0].order)) {
    return Refusal{"memory-order", "reads and writes channels-last only"};
  }
  if (!std::all_of(g.weights, g.weights + kTaps * g.channels * g.outputs, [](float w) { return std::isfinite(w); })) {
    return Refusal{"weights", "would spread an infinity or NaN of the weights"};
  }
  const int64_t tile = chooseTile(problem, g);
  if (tile == 0) {
    return Refusal{"slower", "is slower than others for few channels or a small image"};
  }
  auto packed = std::make_shared<Packed>();
  packed->geometry = g;
  packed->tile = tile;
  const std::vector<float> weights = transformWeights(*packed, problem.threads);
  for (int64_t i = 0; i < packed->patch(); ++i) {
    const float* matrix = weights.data() + i * g.channels * g.outputs;
    packed->products.emplace_back(
        g.channels, g.outputs, 1, [&](int64_t c) { return matrix + c * g.outputs; }, problem.threads);
  }
  packed->zeros.assign(static_cast<size_t>(g.channels), 0.0F);
  packed->run = g.channels % (2 * kWidest) == 0 ? 2 * kWidest : kWidest;
  for (int64_t c = 0; c < g.channels; c += packed->run) {
    packed->run_offsets.push_back(c);
  }
  packed->epilogue = gemm::makeEpilogue(g.activation, g.alpha, g.beta);
  packed->gemm = gemm::functions();
  packed->functions = winogradFunctions(tile);
  return std::make_unique<WinogradKernel>(std::move(packed));
}

}  // namespace torchtrt::kernels::convolution
