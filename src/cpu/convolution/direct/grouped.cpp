// Convolution in groups of four input and four output channels (ResNeXt's first stage), channels-last, float32: a
// vector holds whole groups, so that a pixel is loaded once for all of its outputs.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "cpu/convolution/direct/grouped_row.h"
#include "cpu/convolution/direct/row_kernel.h"
#include "cpu/convolution/fast.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels::convolution {
namespace {

struct PackedGrouped : PackedRows {
  int64_t lanes = 0;
  std::vector<GroupedBlock> blocks;
  void (*row)(const Row&, const GroupedBlock&) = nullptr;
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
  packed->row = functions.row;
  packed->lanes = functions.lanes;
  const int64_t vectors = (g.channels + packed->lanes - 1) / packed->lanes;
  const int64_t block_floats = g.taps() * kGroupChannels * packed->lanes;
  allocate(*packed, g, vectors * block_floats, packed->lanes);
  float* const to = packed->weights.get();
  for (int64_t vector = 0; vector < vectors; ++vector) {
    const int64_t channel = vector * packed->lanes;
    const int64_t valid = std::min(packed->lanes, g.channels - channel);
    packed->blocks.push_back({static_cast<int32_t>(channel), static_cast<int32_t>(valid), to + vector * block_floats});
  }
  visitWeights(*packed, [&](int64_t plain, int64_t place) { to[place] = g.weights[plain]; });
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
        const Pixel first = {unit / (blocks * lines), line / output_.size[1], line % output_.size[1], 0};
        const float* line_taps[kMaxRowLines];
        packed_->row(rowAt(*packed_, input_, output_, args, first, line_taps),
                     packed_->blocks[static_cast<size_t>(unit % blocks)]);
      }
    });
  }

 private:
  std::shared_ptr<const PackedGrouped> packed_;
  Image input_;
  Image output_;
};

class GroupedKernel final : public RowKernel<PackedGrouped> {
 public:
  using RowKernel::RowKernel;

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return std::make_unique<Grouped>(packed(), shapes);
  }
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
  if (auto refusal = refuseRows(problem, g)) {
    return *refusal;
  }
  const GroupedFunctions functions = groupedFunctions();
  if (functions.lanes < kGroupChannels) {
    return Refusal{"instruction-set", "needs vectors of four floats or more"};
  }
  return std::make_unique<GroupedKernel>(pack(g, functions));
}

}  // namespace torchtrt::kernels::convolution
