// 3x3 convolution with stride 1 by Winograd's F(2x2, 3x3) and F(4x4, 3x3) (Lavin and Gray, arXiv:1509.09308): 16
// multiplications for 4 outputs, or 36 for 16, where the plain sum takes 36 and 144; with stride 2 by F(2, 2) for the
// outer taps: 25 for 4. F(4x4) is that of the points 0, +-1/sqrt(2), +-sqrt(2) and infinity, and products are summed in
// short runs: so errors are no larger than those of the plain sum (docs/decisions/0007-winograd.md). An infinity or NaN
// would spread over its tile, and what is large over what is small beside it: such tiles are computed by the plain sum.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "cpu/convolution/choice.h"
#include "cpu/convolution/direct/each_group.h"
#include "cpu/convolution/fast.h"
#include "cpu/convolution/geometry.h"
#include "cpu/convolution/winograd/tile_grid.h"
#include "cpu/convolution/winograd/winograd_form.h"
#include "cpu/convolution/winograd/winograd_kernels.h"
#include "cpu/convolution/winograd/winograd_tile.h"
#include "cpu/gemm/unpack.h"
#include "cpu/threads/parallel.h"
#include "kernels/restores.h"

namespace torchtrt::kernels::convolution {
namespace {

struct Packed {
  Packed(WinogradForm form, const Geometry& g, int threads)
      : geometry(g),
        sizes(sizesOf(form)),
        functions(winogradFunctions(form)),
        gemm(gemm::functions()),
        kernels(form, g, functions, threads),
        zeros(static_cast<size_t>(g.channels)),
        epilogue(gemm::makeEpilogue(g.activation, g.alpha, g.beta)) {}

  Geometry geometry;
  WinogradSizes sizes;
  WinogradFunctions functions;
  gemm::Functions gemm;
  WinogradKernels kernels;
  std::vector<float> zeros;  // a pixel of padding
  gemm::Epilogue epilogue;
};

class WinogradConvolution final : public Prepared {
 public:
  WinogradConvolution(std::shared_ptr<const Packed> packed, const ShapeSet& shapes)
      : packed_(std::move(packed)),
        input_(imageOf(shapes.inputs[0])),
        output_(imageOf(shapes.outputs[0])),
        grid_(output_, packed_->sizes.tile),
        threads_(shapes.threads) {
    const int64_t tiles = grid_.count();
    const Geometry& g = packed_->geometry;
    const bool large = packed_->kernels.areLarge();
    const int64_t tile_bytes = packed_->sizes.patch() * kFloat * (g.channels + g.outputs);
    const int64_t most =
        large ? kTilesOfLarge : std::clamp<int64_t>(kChunkBytes / tile_bytes, 3 * gemm::kTileRows, 8 * gemm::kTileRows);
    const int64_t together = large ? 1 : threads_;  // chunks at a time
    const int64_t rounds = (tiles + most * together - 1) / (most * together);
    // Cut between rows of the same kernel of the product: results do not depend on the number of threads.
    groups_ = (tiles + gemm::kTileRows - 1) / gemm::kTileRows;
    chunks_ = std::min(rounds * together, groups_);
    chunk_tiles_ = chunks_ == 0 ? 0 : (groups_ + chunks_ - 1) / chunks_ * gemm::kTileRows;
  }

  // Returns the largest number of threads that could share the work.
  static int64_t partsOf(const Packed& packed, const ShapeSet& shapes) {
    const int64_t tiles = TileGrid(imageOf(shapes.outputs[0]), packed.sizes.tile).count();
    return packed.kernels.areLarge() ? packed.sizes.patch() : (tiles + gemm::kTileRows - 1) / gemm::kTileRows;
  }

  size_t scratchBytes() const override {
    const int64_t chunks = packed_->kernels.areLarge() ? 1 : threads_;
    return static_cast<size_t>(chunks * chunkFloats() + threads_ * packed_->kernels.scratchFloats()) * sizeof(float);
  }

  void run(const RunArgs& args) const override {
    auto* scratch = static_cast<float*>(args.scratch);
    if (packed_->kernels.areLarge()) {
      for (int64_t chunk = 0; chunk < chunks_; ++chunk) {
        runChunk(args, scratch, chunk, args.threads);
      }
      return;
    }
    std::atomic<int64_t> next = 0;
    parallelFor(args.threads, 0, std::min<int64_t>(args.threads, chunks_), 1, [&](int64_t begin, int64_t end) {
      for (int64_t own = begin; own < end; ++own) {
        for (int64_t chunk = next.fetch_add(1); chunk < chunks_; chunk = next.fetch_add(1)) {
          runChunk(args, scratch + own * chunkFloats(), chunk, 1);
        }
      }
    });
  }

 private:
  // Small kernels: threads take chunks of tiles whose patches and products stay in their second-level cache. Large ones
  // come from memory in every call and are shared out: all threads work on one chunk, each on kernels of its own.
  static constexpr int64_t kFloat = sizeof(float);
  static constexpr int64_t kChunkBytes = 400 * 1024;
  static constexpr int64_t kTilesOfLarge = 128;

  // Floats from one value of the patches to the next, and from one product to the next. Not a multiple of a page: the
  // same element of all of them would fall into the few lines of one set of the first-level cache.
  int64_t patchStep() const {
    return chunk_tiles_ * packed_->geometry.channels + kWinogradVector;
  }
  int64_t productStep() const {
    return chunk_tiles_ * packed_->geometry.outputs + kWinogradVector;
  }
  int64_t chunkFloats() const {
    return packed_->sizes.patch() * (patchStep() + productStep());
  }

  const float* inputOf(const RunArgs& args, const TilePlace& place, int64_t y, int64_t x) const {
    return pixelUnder<float>(place, packed_->geometry, input_, args.inputs[0], y, x);
  }

  void runChunk(const RunArgs& args, float* scratch, int64_t chunk, int threads) const {
    const int64_t first = groups_ * chunk / chunks_ * gemm::kTileRows;
    const int64_t end = std::min(groups_ * (chunk + 1) / chunks_ * gemm::kTileRows, grid_.count());
    const int64_t count = end - first;
    float* patches = scratch;
    float* products = scratch + packed_->sizes.patch() * patchStep();
    parallelFor(threads, 0, count, gemm::kTileRows, [&](int64_t t, int64_t last) {
      for (; t < last; ++t) {
        startTile(args, grid_.at(first + t), patches + t * packed_->geometry.channels);
      }
    });
    const WinogradProducts all = {count, patches, patchStep(), products, productStep()};
    if (packed_->kernels.areLarge()) {
      packed_->kernels.multiplyLarge(all, scratch + chunkFloats(), threads);
    } else {
      packed_->kernels.multiplySmall(all);
    }
    parallelFor(threads, 0, count, gemm::kTileRows, [&](int64_t t, int64_t last) {
      for (; t < last; ++t) {
        finishTile(args, grid_.at(first + t), products + t * packed_->geometry.outputs,
                   patches + t * packed_->sizes.patch() * packed_->geometry.channels);
      }
    });
  }

  void startTile(const RunArgs& args, const TilePlace& place, float* patch) const {
    const Geometry& g = packed_->geometry;
    WinogradInput tile;
    size_t i = 0;
    for (int64_t y = 0; y < packed_->sizes.side; ++y) {
      for (int64_t x = 0; x < packed_->sizes.side; ++x) {
        const float* from = inputOf(args, place, y, x);
        tile.pixels[i++] = from == nullptr ? packed_->zeros.data() : from;
      }
    }
    tile.to = patch;
    tile.step = patchStep();
    tile.channels = g.channels;
    packed_->functions.input(tile);
  }

  // The patches are not needed any more: `scratch` is this tile's share of them.
  void finishTile(const RunArgs& args, const TilePlace& place, const float* products, float* scratch) const {
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
  void forEachOutput(const TilePlace& place, const Body& body) const {
    size_t i = 0;
    for (int64_t y = 0; y < packed_->sizes.tile; ++y) {
      for (int64_t x = 0; x < packed_->sizes.tile; ++x) {
        body(i++, place.y + y, place.x + x);
      }
    }
  }

  // The outputs of a tile as the definition has them.
  void sumPlainly(const RunArgs& args, const TilePlace& place, const WinogradOutput& tile, float* scratch) const {
    const Geometry& g = packed_->geometry;
    const int64_t length = kWinogradTaps * g.channels;
    const int64_t together = packed_->sizes.patch() / kWinogradTaps;  // windows that there is room for
    std::array<const float*, gemm::kTileRows> windows{};
    std::array<const float*, gemm::kTileRows> residuals{};
    std::array<float*, gemm::kTileRows> out{};
    gemm::Tile sums{};
    sums.panels = packed_->kernels.plain().panels();
    sums.rows = windows.data();
    sums.taps = 1;
    sums.run = length;
    sums.out = out.data();
    sums.residual = g.has_residual ? residuals.data() : nullptr;
    sums.bias = tile.bias;
    sums.epilogue = &packed_->epilogue;
    const auto flush = [&] {
      if (sums.row_count > 0) {
        packed_->gemm.tile(sums);
      }
      sums.row_count = 0;
    };
    forEachOutput(place, [&](size_t i, int64_t y, int64_t x) {
      if (tile.out[i] == nullptr) {
        return;
      }
      const auto at = static_cast<size_t>(sums.row_count++);
      float* window = scratch + static_cast<int64_t>(at) * length;
      gatherWindow(args, {place.image, y, x}, window);
      windows[at] = window;
      residuals[at] = tile.residual[i];
      out[at] = tile.out[i];
      if (sums.row_count == together) {
        flush();
      }
    });
    flush();
  }

  // Copies the inputs of an output pixel, in the order of the weights.
  void gatherWindow(const RunArgs& args, const TilePlace& place, float* to) const {
    const Geometry& g = packed_->geometry;
    for (int64_t t = 0; t < kWinogradTaps; ++t) {
      const float* from = inputOf(args, place, t / 3, t % 3);
      for (int64_t c = 0; c < g.channels; ++c) {
        to[c * kWinogradTaps + t] = from == nullptr ? 0.0F : from[c];
      }
    }
  }

  std::shared_ptr<const Packed> packed_;
  Image input_;
  Image output_;
  TileGrid grid_;
  int64_t threads_;
  int64_t groups_ = 0;       // of up to kTileRows tiles
  int64_t chunks_ = 0;       // of whole groups, as even as they can be
  int64_t chunk_tiles_ = 0;  // most tiles of a chunk
};

class WinogradKernel final : public Kernel, public RestoresConstants {
 public:
  WinogradKernel(const Geometry& geometry, WinogradForm form, int threads) : geometry_(geometry) {
    for (int64_t group = 0; group < geometry.groups; ++group) {
      groups_.push_back(std::make_shared<const Packed>(form, geometryOfGroup(geometry, group), threads));
    }
  }

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    if (groups_.size() == 1) {
      return std::make_unique<WinogradConvolution>(groups_[0], shapes);
    }
    ShapeSet own = shapes;
    own.threads = threadsOfGroup(geometry_.groups, WinogradConvolution::partsOf(*groups_[0], shapes), shapes.threads);
    std::vector<std::unique_ptr<Prepared>> prepared;
    for (const std::shared_ptr<const Packed>& group : groups_) {
      prepared.push_back(std::make_unique<WinogradConvolution>(group, own));
    }
    return prepareEachGroup(geometry_, std::move(prepared), own.threads, shapes.threads);
  }
  bool needsConstant(int input) const override {
    return input != 1;
  }
  size_t packedBytes() const override {
    size_t bytes = 0;
    for (const std::shared_ptr<const Packed>& group : groups_) {
      bytes += group->kernels.plain().bytes() + group->kernels.formedBytes();
    }
    return bytes;
  }
  bool restores(int input) const override {
    return input == 1;
  }
  void restore(int, void* to, int threads) const override {
    auto* weights = static_cast<float*>(to);
    for (const std::shared_ptr<const Packed>& group : groups_) {
      const int64_t depth = kWinogradTaps * group->geometry.channels;
      gemm::unpack(
          group->kernels.plain(), depth, [&](int64_t k) { return weights + k; }, threads);
      weights += depth * group->geometry.outputs;
    }
  }
  bool acceptsStrides(int input, const TensorDesc& desc) const override {
    return input == 0 && desc.strides[1] == 1;
  }

 private:
  Geometry geometry_;
  std::vector<std::shared_ptr<const Packed>> groups_;
};

}  // namespace

CreateResult createWinograd(const Problem& problem) {
  std::variant<Geometry, Refusal> described = describe(problem);
  if (const Refusal* refusal = std::get_if<Refusal>(&described)) {
    return *refusal;
  }
  const Geometry& g = std::get<Geometry>(described);
  if (g.spatial_rank != 2 || g.kernel != Spatial{1, 3, 3} || g.dilation != Spatial{1, 1, 1} ||
      (g.stride != Spatial{1, 1, 1} && g.stride != Spatial{1, 2, 2})) {
    return Refusal{"kernel", "computes undilated 3x3 kernels with stride 1 or 2 only"};
  }
  const Geometry group = geometryOfGroup(g, 0);
  if (group.channels % kWinogradVector != 0 || group.outputs % kWinogradVector != 0) {
    return Refusal{"channels", "takes multiples of 16 channels in each group only"};
  }
  if (!isChannelsLast(problem.inputs[0]) || !isChannelsLast(problem.outputs[0]) ||
      (g.has_residual && problem.inputs[3].order != problem.outputs[0].order)) {
    return Refusal{"memory-order", "reads and writes channels-last only"};
  }
  if (!std::all_of(g.weights, g.weights + kWinogradTaps * group.channels * g.outputs,
                   [](float w) { return std::isfinite(w); })) {
    return Refusal{"weights", "would spread an infinity or NaN of the weights"};
  }
  if (std::all_of(g.weights, g.weights + kWinogradTaps * group.channels * g.outputs,
                  [](float w) { return std::trunc(w) == w; })) {
    return Refusal{"integers", "would round sums of integers, which others compute exactly"};
  }
  const WinogradForm form = chooseForm(group, problem.outputs[0].opt_dims).form;
  return std::make_unique<WinogradKernel>(g, form, problem.threads);
}

}  // namespace torchtrt::kernels::convolution
