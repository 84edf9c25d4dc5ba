// 3x3 convolution with stride 1 by Winograd's F(2x2, 3x3) (Lavin and Gray, arXiv:1509.09308): 16 multiplications for
// four outputs where the plain sum takes 36. The transforms only add and halve, so results are about as exact as plain
// ones. An infinity or NaN would spread over its tile: such tiles are computed by the plain sum.
#include <algorithm>
#include <atomic>
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

struct Packed {
  Geometry geometry;
  std::vector<PackedB> products;  // [channels, outputs] for each of the 16
  std::vector<float> zeros;       // a pixel of padding
  gemm::Epilogue epilogue;
  gemm::Epilogue none;
  gemm::Functions gemm;
  WinogradFunctions functions;
};

// G g G^T of all kernels: [16][channels][outputs].
std::vector<float> transformWeights(const Geometry& g, int threads) {
  std::vector<float> all(static_cast<size_t>(kPatch * g.channels * g.outputs));
  parallelFor(threads, 0, g.channels, 16, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      for (int64_t n = 0; n < g.outputs; ++n) {
        const float* w = g.weights + (n * g.channels + c) * 9;
        float rows[4][3];
        for (int x = 0; x < 3; ++x) {
          const float outer = 0.5F * (w[x] + w[6 + x]);
          const float inner = 0.5F * w[3 + x];
          rows[0][x] = w[x];
          rows[1][x] = outer + inner;
          rows[2][x] = outer - inner;
          rows[3][x] = w[6 + x];
        }
        for (int y = 0; y < 4; ++y) {
          const float outer = 0.5F * (rows[y][0] + rows[y][2]);
          const float inner = 0.5F * rows[y][1];
          const float values[4] = {rows[y][0], outer + inner, outer - inner, rows[y][2]};
          for (int x = 0; x < 4; ++x) {
            all[static_cast<size_t>(((4 * y + x) * g.channels + c) * g.outputs + n)] = values[x];
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
    tile_rows_ = (output_.size[1] + 1) / 2;
    tile_columns_ = (output_.size[2] + 1) / 2;
    const int64_t tiles = output_.batch * tile_rows_ * tile_columns_;
    const Geometry& g = packed_->geometry;
    const int64_t kernel_bytes = kPatch * g.channels * g.outputs * kFloat;
    by_product_ = kernel_bytes > kLargeKernels;
    const int64_t most = by_product_ ? kTilesOfProducts
                                     : std::clamp<int64_t>(kChunkBytes / (kPatch * kFloat * (g.channels + g.outputs)),
                                                           3 * gemm::kTileRows, 8 * gemm::kTileRows);
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

  int64_t chunkFloats() const {
    return kPatch * chunk_tiles_ * (packed_->geometry.channels + packed_->geometry.outputs);
  }

  Place placeOf(int64_t tile) const {
    const int64_t x = tile % tile_columns_;
    tile /= tile_columns_;
    return {tile / tile_rows_, 2 * (tile % tile_rows_), 2 * x};
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
    float* products = scratch + kPatch * chunk_tiles_ * packed_->geometry.channels;
    parallelFor(threads, 0, count, gemm::kTileRows, [&](int64_t t, int64_t last) {
      for (; t < last; ++t) {
        startTile(args, placeOf(first + t), patches + t * packed_->geometry.channels);
      }
    });
    parallelFor(threads, 0, kPatch, 1, [&](int64_t i, int64_t last) {
      for (; i < last; ++i) {
        multiply(i, i + 1 < last ? i + 1 : -1, count, patches, products);
      }
    });
    parallelFor(threads, 0, count, gemm::kTileRows, [&](int64_t t, int64_t last) {
      for (; t < last; ++t) {
        finishTile(args, placeOf(first + t), products + t * packed_->geometry.outputs);
      }
    });
  }

  void startTile(const RunArgs& args, const Place& place, float* patch) const {
    const Geometry& g = packed_->geometry;
    WinogradInput tile;
    for (int64_t i = 0; i < kPatch; ++i) {
      const float* from =
          pixel(args, place.image, place.y - g.pre_padding[1] + i / 4, place.x - g.pre_padding[2] + i % 4);
      tile.pixels[static_cast<size_t>(i)] = from == nullptr ? packed_->zeros.data() : from;
    }
    tile.to = patch;
    tile.step = chunk_tiles_ * g.channels;
    tile.channels = g.channels;
    packed_->functions.input(tile);
  }

  // Product i of `count` tiles; that of `next` comes after it, or none if negative.
  void multiply(int64_t i, int64_t next, int64_t count, const float* patches, float* products) const {
    const Geometry& g = packed_->geometry;
    gemm::Slab slab{};
    slab.panels = packed_->products[static_cast<size_t>(i)].panels();
    slab.rows = count;
    slab.a = patches + i * chunk_tiles_ * g.channels;
    slab.a_stride = g.channels;
    slab.run = g.channels;
    slab.out = products + i * chunk_tiles_ * g.outputs;
    slab.out_stride = g.outputs;
    slab.epilogue = &packed_->none;
    slab.ahead = next < 0 ? nullptr : packed_->products[static_cast<size_t>(next)].panels().front().data;
    packed_->gemm.slab(slab);
  }

  void finishTile(const RunArgs& args, const Place& place, const float* products) const {
    const Geometry& g = packed_->geometry;
    WinogradOutput tile;
    tile.from = products;
    tile.step = chunk_tiles_ * g.outputs;
    tile.bias = g.has_bias ? static_cast<const float*>(args.inputs[2]) : nullptr;
    tile.columns = g.outputs;
    tile.epilogue = &packed_->epilogue;
    for (int64_t i = 0; i < kOutputs; ++i) {
      const int64_t y = place.y + i / 2;
      const int64_t x = place.x + i % 2;
      const bool exists = y < output_.size[1] && x < output_.size[2];
      const int64_t offset = place.image * output_.batch_stride + y * output_.stride[1] + x * output_.stride[2];
      tile.out[static_cast<size_t>(i)] = exists ? static_cast<float*>(args.outputs[0]) + offset : nullptr;
      tile.residual[static_cast<size_t>(i)] =
          exists && g.has_residual ? static_cast<const float*>(args.inputs[3]) + offset : nullptr;
    }
    if (packed_->functions.output(tile)) {
      return;
    }
    for (int64_t i = 0; i < kOutputs; ++i) {
      if (tile.out[static_cast<size_t>(i)] != nullptr) {
        sumPlainly(args, place.image, place.y + i / 2, place.x + i % 2, tile.residual[static_cast<size_t>(i)],
                   tile.out[static_cast<size_t>(i)]);
      }
    }
  }

  // One output pixel as the definition has it.
  void sumPlainly(const RunArgs& args, int64_t image, int64_t y, int64_t x, const float* residual, float* out) const {
    const Geometry& g = packed_->geometry;
    const auto* weights = static_cast<const float*>(args.inputs[1]);
    const auto* bias = static_cast<const float*>(args.inputs[2]);
    for (int64_t n = 0; n < g.outputs; ++n) {
      float sum = g.has_bias ? bias[n] : 0.0F;
      for (int64_t t = 0; t < 9; ++t) {
        const float* from = pixel(args, image, y - g.pre_padding[1] + t / 3, x - g.pre_padding[2] + t % 3);
        for (int64_t c = 0; from != nullptr && c < g.channels; ++c) {
          sum += from[c] * weights[(n * g.channels + c) * 9 + t];
        }
      }
      out[n] = residual == nullptr ? sum : sum + residual[n];
    }
    packed_->functions.finish(packed_->epilogue, out, g.outputs);
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

// By measurement (two cores, AVX-512): below, the transforms cost more than they save, or there are too few tiles to
// make up for kernels that are 16/9 as large.
bool isFaster(const Problem& problem, const Geometry& g) {
  constexpr int64_t kLeastChannels = 64;
  constexpr int64_t kLeastTiles = 40;
  const std::vector<int64_t>& size = problem.outputs[0].opt_dims;
  return g.channels >= kLeastChannels && g.outputs >= kLeastChannels &&
         size[0] * ((size[2] + 1) / 2) * ((size[3] + 1) / 2) >= kLeastTiles;
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
  if (!isFaster(problem, g)) {
    return Refusal{"slower", "is slower than others for few channels or a small image"};
  }
  auto packed = std::make_shared<Packed>();
  packed->geometry = g;
  const std::vector<float> weights = transformWeights(g, problem.threads);
  for (int64_t i = 0; i < kPatch; ++i) {
    const float* matrix = weights.data() + i * g.channels * g.outputs;
    packed->products.emplace_back(
        g.channels, g.outputs, 1, [&](int64_t c) { return matrix + c * g.outputs; }, problem.threads);
  }
  packed->zeros.assign(static_cast<size_t>(g.channels), 0.0F);
  packed->epilogue = gemm::makeEpilogue(g.activation, g.alpha, g.beta);
  packed->gemm = gemm::functions();
  packed->functions = winogradFunctions();
  return std::make_unique<WinogradKernel>(std::move(packed));
}

}  // namespace torchtrt::kernels::convolution
