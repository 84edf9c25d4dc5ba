// Convolution in groups of four input and four output channels (ResNeXt's first stage), channels-last, float32: a
// vector holds whole groups, so that a pixel is loaded once for all of its outputs.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "device/constants.h"
#include "kernels/convolution/fast.h"
#include "kernels/convolution/geometry.h"
#include "kernels/convolution/grouped_row.h"
#include "kernels/parallel.h"
#include "kernels/restores.h"

namespace torchtrt::kernels::convolution {
namespace {

constexpr int64_t kMaxLines = 256;  // depth times height taps; their pointers are on the stack

struct PackedGrouped {
  Geometry geometry;
  std::shared_ptr<float> weights;
  size_t bytes = 0;
  int64_t lanes = 0;
  std::vector<GroupedBlock> blocks;
  std::vector<float> zeros;
  gemm::Epilogue epilogue;
  void (*row)(const DepthwiseRow&, const GroupedBlock&) = nullptr;
};

// Visits each weight: body(place in [outputs, kGroupChannels, taps], place in packed memory).
template <typename Body>
void visitWeights(const PackedGrouped& packed, Body&& body) {
  const int64_t taps = packed.geometry.taps();
  for (const GroupedBlock& block : packed.blocks) {
    const int64_t begin = block.weights - packed.weights.get();
    for (int64_t i = 0; i < block.valid; ++i) {
      for (int64_t input = 0; input < kGroupChannels; ++input) {
        for (int64_t tap = 0; tap < taps; ++tap) {
          body(((block.channel + i) * kGroupChannels + input) * taps + tap,
               begin + (tap * kGroupChannels + input) * packed.lanes + i);
        }
      }
    }
  }
}

std::shared_ptr<PackedGrouped> pack(const Geometry& g, const GroupedFunctions& functions) {
  auto packed = std::make_shared<PackedGrouped>();
  packed->geometry = g;
  packed->row = functions.row;
  packed->lanes = functions.lanes;
  const int64_t vectors = (g.channels + packed->lanes - 1) / packed->lanes;
  const int64_t block_floats = g.taps() * kGroupChannels * packed->lanes;
  packed->bytes = static_cast<size_t>(vectors * block_floats) * sizeof(float);
  packed->weights = std::static_pointer_cast<float>(device::allocateConstant(packed->bytes, "packing weights"));
  packed->zeros.assign(static_cast<size_t>(packed->lanes), 0.0F);
  float* const to = packed->weights.get();
  std::fill_n(to, vectors * block_floats, 0.0F);
  for (int64_t vector = 0; vector < vectors; ++vector) {
    const int64_t channel = vector * packed->lanes;
    const int64_t valid = std::min(packed->lanes, g.channels - channel);
    packed->blocks.push_back({static_cast<int32_t>(channel), static_cast<int32_t>(valid), to + vector * block_floats});
  }
  visitWeights(*packed, [&](int64_t plain, int64_t place) { to[place] = g.weights[plain]; });
  packed->epilogue = gemm::makeEpilogue(g.activation, g.alpha, g.beta);
  return packed;
}

class Grouped final : public Prepared {
 public:
  Grouped(std::shared_ptr<const PackedGrouped> packed, const ShapeSet& shapes)
      : packed_(std::move(packed)), input_(imageOf(shapes.inputs[0])), output_(imageOf(shapes.outputs[0])) {}

  void run(const RunArgs& args) const override {
    const Geometry& g = packed_->geometry;
    const int64_t lines = output_.size[0] * output_.size[1];
    const auto blocks = static_cast<int64_t>(packed_->blocks.size());
    const int64_t flops = 2 * output_.size[2] * packed_->lanes * kGroupChannels * g.taps();
    const int64_t grain = std::max<int64_t>(1, gemm::kMinChunkFlops / std::max<int64_t>(1, flops));
    parallelFor(args.threads, 0, output_.batch * lines * blocks, grain, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t line = unit / blocks % lines;
        runLine(args, unit / (blocks * lines), line / output_.size[1], line % output_.size[1],
                packed_->blocks[static_cast<size_t>(unit % blocks)]);
      }
    });
  }

 private:
  void runLine(const RunArgs& args, int64_t n, int64_t oz, int64_t oy, const GroupedBlock& block) const {
    const Geometry& g = packed_->geometry;
    const float* lines[kMaxLines];
    const float* image = static_cast<const float*>(args.inputs[0]) + n * input_.batch_stride;
    const float** end = findLines(g, input_, image, oz, oy, lines);
    float* out = static_cast<float*>(args.outputs[0]) + n * output_.batch_stride + oz * output_.stride[0] +
                 oy * output_.stride[1];
    const float* bias = g.has_bias ? static_cast<const float*>(args.inputs[2]) : nullptr;
    packed_->row(
        {lines, packed_->zeros.data(), bias, out, end - lines, g.kernel[2], g.stride[2], g.dilation[2],
         g.pre_padding[2], input_.size[2], output_.size[2], input_.stride[2], output_.stride[2], &packed_->epilogue},
        block);
  }

  std::shared_ptr<const PackedGrouped> packed_;
  Image input_;
  Image output_;
};

class GroupedKernel final : public Kernel, public RestoresConstants {
 public:
  explicit GroupedKernel(std::shared_ptr<const PackedGrouped> packed) : packed_(std::move(packed)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return std::make_unique<Grouped>(packed_, shapes);
  }
  bool needsConstant(int input) const override {
    return input != 1;
  }
  size_t packedBytes() const override {
    return packed_->bytes;
  }
  bool restores(int input) const override {
    return input == 1;
  }
  void restore(int, void* to, int) const override {
    auto* weights = static_cast<float*>(to);
    visitWeights(*packed_, [&](int64_t plain, int64_t place) { weights[plain] = packed_->weights.get()[place]; });
  }
  bool acceptsStrides(int input, const TensorDesc& desc) const override {
    return input == 0 && desc.strides[1] == 1;
  }

 private:
  std::shared_ptr<const PackedGrouped> packed_;
};

}  // namespace

CreateResult createGrouped(const Problem& problem) {
  const std::variant<Geometry, Refusal> described = describe(problem);
  if (const Refusal* refusal = std::get_if<Refusal>(&described)) {
    return *refusal;
  }
  const Geometry& g = std::get<Geometry>(described);
  if (g.groups == 1 || g.channels != kGroupChannels * g.groups || g.outputs != g.channels) {
    return Refusal{"groups", "needs groups of four input and four output channels"};
  }
  if (!isChannelsLast(problem.inputs[0]) || !isChannelsLast(problem.outputs[0])) {
    return Refusal{"memory-order", "reads and writes channels-last only"};
  }
  if (g.has_residual) {
    return Refusal{"residual", "has no residual operand"};
  }
  if (g.kernel[0] * g.kernel[1] > kMaxLines) {
    return Refusal{"large-kernel", "keeps a pointer per line of the kernel on the stack, and there would be too many"};
  }
  const GroupedFunctions functions = groupedFunctions();
  if (functions.lanes < kGroupChannels) {
    return Refusal{"instruction-set", "needs vectors of four floats or more"};
  }
  return std::make_unique<GroupedKernel>(pack(g, functions));
}

}  // namespace torchtrt::kernels::convolution
