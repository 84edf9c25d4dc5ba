// Convolution to at most four outputs (the last layer of networks that answer with images or masks), channels-last,
// float32: vectors run over the channels that are summed, where the product's, over the outputs, would be mostly empty.
#include "cpu/convolution/direct/few_outputs.h"

#include <algorithm>
#include <utility>

#include "cpu/convolution/direct/few_outputs_row.h"
#include "cpu/convolution/direct/row_kernel.h"
#include "cpu/convolution/fast.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels::convolution {

struct PackedFewOutputs : PackedRows {
  int64_t lanes = 0;
  void (*row)(const Row&, int64_t, const float*) = nullptr;
};

// Visits each weight: body(output, channel, tap, place in packed memory).
template <typename Body>
static void visitPlaces(const PackedFewOutputs& packed, Body&& body) {
  const Geometry& g = packed.geometry;
  const int64_t taps = g.taps();
  const int64_t vectors = (g.channels + packed.lanes - 1) / packed.lanes;
  for (int64_t output = 0; output < g.outputs; ++output) {
    for (int64_t channel = 0; channel < g.channels; ++channel) {
      const int64_t vector = channel / packed.lanes;
      for (int64_t tap = 0; tap < taps; ++tap) {
        body(output, channel, tap,
             ((tap * vectors + vector) * g.outputs + output) * packed.lanes + channel % packed.lanes);
      }
    }
  }
}

template <typename Body>
static void visitWeights(const PackedFewOutputs& packed, Body&& body) {
  const Geometry& g = packed.geometry;
  visitPlaces(packed, [&](int64_t output, int64_t channel, int64_t tap, int64_t place) {
    body((output * g.channels + channel) * g.taps() + tap, place);
  });
}

namespace {

class FewOutputs final : public Prepared {
 public:
  FewOutputs(std::shared_ptr<const PackedFewOutputs> packed, const ShapeSet& shapes)
      : packed_(std::move(packed)), input_(imageOf(shapes.inputs[0])), output_(imageOf(shapes.outputs[0])) {}

  void run(const RunArgs& args) const override {
    const Geometry& g = packed_->geometry;
    const int64_t lines = output_.size[0] * output_.size[1];
    const int64_t flops = 2 * output_.size[2] * g.outputs * g.channels * g.taps();
    const int64_t grain = std::max<int64_t>(1, gemm::kMinChunkFlops / std::max<int64_t>(1, flops));
    parallelFor(args.threads, 0, output_.batch * lines, grain, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t line = unit % lines;
        const Pixel first = {unit / lines, line / output_.size[1], line % output_.size[1], 0};
        const float* line_taps[kMaxRowLines];
        packed_->row(rowAt(*packed_, input_, output_, args, first, line_taps), g.channels, packed_->weights.get());
      }
    });
  }

 private:
  std::shared_ptr<const PackedFewOutputs> packed_;
  Image input_;
  Image output_;
};

class FewOutputsKernel final : public RowKernel<PackedFewOutputs> {
 public:
  using RowKernel::RowKernel;

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return prepareFewOutputs(packed(), shapes);
  }
};

}  // namespace

std::shared_ptr<const PackedFewOutputs> packFewOutputs(const Geometry& g,
                                                       const std::function<float(int64_t, int64_t, int64_t)>& weight) {
  const FewOutputsFunctions functions = fewOutputsFunctions();
  auto packed = std::make_shared<PackedFewOutputs>();
  packed->row = functions.row[g.outputs - 1];
  packed->lanes = functions.lanes;
  const int64_t vectors = (g.channels + packed->lanes - 1) / packed->lanes;
  allocate(*packed, g, g.taps() * vectors * g.outputs * packed->lanes, g.channels);
  float* const to = packed->weights.get();
  visitPlaces(*packed, [&](int64_t output, int64_t channel, int64_t tap, int64_t place) {
    to[place] = weight(output, channel, tap);
  });
  packed->geometry.weights = nullptr;  // the original may be released
  return packed;
}

size_t bytesOf(const PackedFewOutputs& packed) {
  return packed.bytes;
}

std::unique_ptr<Prepared> prepareFewOutputs(std::shared_ptr<const PackedFewOutputs> packed, const ShapeSet& shapes) {
  return std::make_unique<FewOutputs>(std::move(packed), shapes);
}

CreateResult createFewOutputs(const Problem& problem) {
  const std::variant<Geometry, Refusal> described = describe(problem);
  if (const Refusal* refusal = std::get_if<Refusal>(&described)) {
    return *refusal;
  }
  const Geometry& g = std::get<Geometry>(described);
  if (g.groups > 1 || g.outputs > kMostFewOutputs) {
    return Refusal{"outputs", "computes at most four outputs, of one group"};
  }
  if (auto refusal = refuseRows(problem, g)) {
    return *refusal;
  }
  if (fewOutputsFunctions().lanes < kMostFewOutputs) {
    return Refusal{"instruction-set", "needs vectors of four floats or more"};
  }
  const auto weight = [&](int64_t output, int64_t channel, int64_t tap) {
    return g.weights[(output * g.channels + channel) * g.taps() + tap];
  };
  return std::make_unique<FewOutputsKernel>(packFewOutputs(g, weight));
}

}  // namespace torchtrt::kernels::convolution
