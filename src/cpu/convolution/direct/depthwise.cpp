// Depthwise convolution (one input and one output channel per group), channels-last, float32: vectors run over
// channels, and the output columns of a tile share every weight that is loaded.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "cpu/convolution/direct/depthwise.h"
#include "cpu/convolution/direct/row_kernel.h"
#include "cpu/convolution/fast.h"
#include "cpu/threads/parallel.h"
#include "kernels/fusion.h"

namespace torchtrt::kernels::convolution {
namespace {

constexpr int64_t kMaxBlockVectors = 4;

std::shared_ptr<PackedDepthwise> pack(const Geometry& g) {
  auto packed = std::make_shared<PackedDepthwise>();
  packed->functions = depthwiseFunctions();
  const int64_t lanes = packed->functions.lanes;
  const int64_t taps = g.taps();
  const int64_t vectors = (g.channels + lanes - 1) / lanes;
  allocate(*packed, g, vectors * lanes * taps, kMaxBlockVectors * lanes);
  float* to = packed->weights.get();
  for (int64_t channel = 0; channel < g.channels;) {
    // Even shares: 5 vectors become 3 + 2, not 4 + 1.
    const int64_t left = (g.channels - channel + lanes - 1) / lanes;
    const int64_t shares = (left + kMaxBlockVectors - 1) / kMaxBlockVectors;
    const int64_t width = (left + shares - 1) / shares;
    const int64_t valid = std::min(width * lanes, g.channels - channel);
    packed->blocks.push_back(
        {static_cast<int32_t>(channel), static_cast<int32_t>(width), static_cast<int32_t>(valid), to});
    to += width * lanes * taps;
    channel += valid;
  }
  to = packed->weights.get();
  visitWeights(*packed, [&](int64_t plain, int64_t place) { to[place] = g.weights[plain]; });
  return packed;
}

class Depthwise final : public Prepared {
 public:
  Depthwise(std::shared_ptr<const PackedDepthwise> packed, const ShapeSet& shapes, bool with_means)
      : packed_(std::move(packed)),
        input_(imageOf(shapes.inputs[0])),
        output_(imageOf(shapes.outputs[0])),
        means_(packed_->functions, output_),
        with_means_(with_means) {}

  size_t scratchBytes() const override {
    return with_means_ ? static_cast<size_t>(means_.floats()) * sizeof(float) : 0;
  }

  void run(const RunArgs& args) const override {
    const Geometry& g = packed_->geometry;
    const int64_t lines = output_.size[0] * output_.size[1];
    const auto blocks = static_cast<int64_t>(packed_->blocks.size());
    const int64_t flops = 2 * output_.size[2] * std::min<int64_t>(g.channels, 64) * g.taps();
    const int64_t grain = std::max<int64_t>(1, kMinChunkFlops / std::max<int64_t>(1, flops));
    // Weights that fit the first-level cache are used for line after line; of others one block at a time is.
    const bool lines_first = packed_->bytes <= kFirstLevelBytes;
    parallelFor(args.threads, 0, output_.batch * blocks * lines, grain, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t line = lines_first ? unit / blocks % lines : unit % lines;
        const int64_t block = lines_first ? unit % blocks : unit / lines % blocks;
        runLine(args, {unit / (blocks * lines), line / output_.size[1], line % output_.size[1], 0},
                packed_->blocks[static_cast<size_t>(block)]);
      }
    });
    if (with_means_) {
      means_.write(static_cast<const float*>(args.scratch), static_cast<float*>(args.outputs[1]));
    }
  }

 private:
  static constexpr size_t kFirstLevelBytes = 24 * 1024;
  static constexpr int64_t kMinChunkFlops = 40'000;  // bound by loads: slower per operation than a matrix product

  void runLine(const RunArgs& args, const Pixel& first, const DepthwiseBlock& block) const {
    const float* lines[kMaxRowLines];
    const Row row = rowAt(*packed_, input_, output_, args, first, lines);
    packed_->functions.row(row, block);
    if (with_means_) {
      means_.addLine(static_cast<float*>(args.scratch), first, row, block);
    }
  }

  std::shared_ptr<const PackedDepthwise> packed_;
  Image input_;
  Image output_;
  MeansOfLines means_;
  bool with_means_;
};

class DepthwiseKernel final : public RowKernel<PackedDepthwise>, public AveragesOutput, public ReadsPixels {
 public:
  using RowKernel::RowKernel;

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return std::make_unique<Depthwise>(packed(), shapes, false);
  }
  std::unique_ptr<Prepared> prepareWithMeans(const ShapeSet& shapes) const override {
    return std::make_unique<Depthwise>(packed(), shapes, true);
  }
  Fused prepareBehind(const ShapeSet& shapes, const ComputesPixels& before, const ShapeSet& before_shapes,
                      bool with_means) const override {
    return prepareDepthwiseBehind(packed(), shapes, before, before_shapes, with_means);
  }
};

}  // namespace

CreateResult createDepthwise(const Problem& problem) {
  const std::variant<Geometry, Refusal> described = describe(problem);
  if (const Refusal* refusal = std::get_if<Refusal>(&described)) {
    return *refusal;
  }
  const Geometry& g = std::get<Geometry>(described);
  if (g.groups != g.channels || g.outputs != g.channels) {
    return Refusal{"not-depthwise", "needs one input and one output channel per group"};
  }
  if (auto refusal = refuseRows(problem, g)) {
    return *refusal;
  }
  return std::make_unique<DepthwiseKernel>(pack(g));
}

}  // namespace torchtrt::kernels::convolution
