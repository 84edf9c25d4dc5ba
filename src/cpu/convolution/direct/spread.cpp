// A deconvolution whose windows lie side by side (kernel = stride, no padding), channels-last: each pixel of the input
// spreads over a box of the output that no other writes. A line of that box is a row of a matrix product, so what is
// packed once serves every shape, and nothing is made for one.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "cpu/convolution/fast.h"
#include "cpu/convolution/geometry.h"
#include "cpu/gemm/packed_gemm.h"
#include "cpu/gemm/runs.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels::convolution {
namespace {

using gemm::PackedB;

struct PackedSpread {
  Geometry geometry;
  std::vector<PackedB> lines;  // by depth and height of the box: [channels, width of the box x outputs]
  std::vector<int64_t> runs;   // where each part of the depth begins that is summed for itself
  gemm::Epilogue epilogue;
  gemm::Functions functions;

  int64_t columns() const {  // of each product
    return geometry.kernel[2] * geometry.outputs;
  }
};

class Spread final : public Prepared {
 public:
  Spread(std::shared_ptr<const PackedSpread> packed, const ShapeSet& shapes)
      : packed_(std::move(packed)), input_(imageOf(shapes.inputs[0])), output_(imageOf(shapes.outputs[0])) {
    const int64_t width = std::max<int64_t>(input_.size[2], 1);
    input_lines_ = input_.batch * input_.size[0] * input_.size[1];
    blocking_ = gemm::chooseBlocking(packed_->lines[0], input_lines_ * width, shapes.threads);
    grain_ = std::max<int64_t>(1, blocking_.grain * gemm::kTileRows / width);
  }

  size_t scratchBytes() const override {  // the bias, once for each pixel of a box's line
    return packed_->geometry.has_bias ? static_cast<size_t>(packed_->columns()) * sizeof(float) : 0;
  }

  void run(const RunArgs& args) const override {
    const Geometry& g = packed_->geometry;
    gemm::Slab slab{};
    slab.rows = input_.size[2];
    slab.a_stride = input_.stride[2];
    slab.taps = static_cast<int64_t>(packed_->runs.size());
    slab.tap_offsets = packed_->runs.data();
    slab.run = g.channels / slab.taps;
    slab.out_stride = packed_->columns();
    slab.epilogue = &packed_->epilogue;
    if (g.has_bias) {
      const auto* bias = static_cast<const float*>(args.inputs[2]);
      auto* repeated = static_cast<float*>(args.scratch);
      for (int64_t x = 0; x < g.kernel[2]; ++x) {
        std::copy_n(bias, g.outputs, repeated + x * g.outputs);
      }
      slab.bias = repeated;
    }
    const auto* input = static_cast<const float*>(args.inputs[0]);
    auto* output = static_cast<float*>(args.outputs[0]);
    const auto box_lines = static_cast<int64_t>(packed_->lines.size());
    const int64_t units = input_lines_ * blocking_.blocks * box_lines;
    parallelFor(args.threads, 0, units, grain_, [&](int64_t begin, int64_t end) {
      gemm::Slab line = slab;
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t box_line = unit / input_lines_ / blocking_.blocks;
        const Pixel from = input_.pixelAt(unit % input_lines_ * input_.size[2]);
        const Pixel to = {from[0], from[1] * g.stride[0] + box_line / g.kernel[1],
                          from[2] * g.stride[1] + box_line % g.kernel[1], 0};
        line.panels = gemm::panelsOf(packed_->lines[static_cast<size_t>(box_line)], blocking_,
                                     unit / input_lines_ % blocking_.blocks);
        line.a = input + input_.offsetOf(from);
        line.out = output + output_.offsetOf(to);
        packed_->functions.slab(line);
      }
    });
  }

 private:
  std::shared_ptr<const PackedSpread> packed_;
  Image input_;
  Image output_;
  int64_t input_lines_ = 0;  // of the whole batch
  gemm::Blocking blocking_;  // of one product
  int64_t grain_ = 1;        // lines worth a thread of their own
};

class SpreadKernel final : public Kernel {
 public:
  explicit SpreadKernel(std::shared_ptr<const PackedSpread> packed) : packed_(std::move(packed)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return std::make_unique<Spread>(packed_, shapes);
  }
  bool needsConstant(int input) const override {
    return input != 1;
  }
  size_t packedBytes() const override {
    size_t bytes = 0;
    for (const PackedB& line : packed_->lines) {
      bytes += line.bytes();
    }
    return bytes;
  }
  bool acceptsStrides(int input, const TensorDesc& desc) const override {
    return input == 0 && (desc.dims[1] == 1 || desc.strides[1] == 1);
  }

 private:
  std::shared_ptr<const PackedSpread> packed_;
};

// Packs [channels, outputs, taps]: one matmul for each line of the box.
std::vector<PackedB> packLines(const Geometry& g, int threads) {
  const int64_t width = g.kernel[2];
  const int64_t columns = width * g.outputs;
  std::vector<float> line(static_cast<size_t>(g.channels * columns));
  std::vector<PackedB> lines;
  for (int64_t first = 0; first < g.taps(); first += width) {
    float* to = line.data();
    for (int64_t c = 0; c < g.channels; ++c) {
      for (int64_t x = 0; x < width; ++x) {
        for (int64_t k = 0; k < g.outputs; ++k) {
          *to++ = g.weights[(c * g.outputs + k) * g.taps() + first + x];
        }
      }
    }
    lines.emplace_back(
        g.channels, columns, 1, [&](int64_t c) { return line.data() + c * columns; }, threads);
  }
  return lines;
}

}  // namespace

CreateResult createSpread(const Problem& problem) {
  const std::variant<Geometry, Refusal> described = describeTransposed(problem);
  if (const Refusal* refusal = std::get_if<Refusal>(&described)) {
    return *refusal;
  }
  const Geometry& g = std::get<Geometry>(described);
  if (!spreads(g)) {
    return Refusal{"windows", "needs one group, and windows side by side without padding"};
  }
  if (!isChannelsLast(problem.inputs[0]) || !isChannelsLast(problem.outputs[0])) {
    return Refusal{"memory-order", "reads and writes channels-last only"};
  }
  auto packed = std::make_shared<PackedSpread>();
  packed->geometry = g;
  packed->lines = packLines(g, problem.threads);
  packed->geometry.weights = nullptr;  // the original may be released
  packed->epilogue = gemm::makeEpilogue(g.activation, g.alpha, g.beta);
  packed->runs = gemm::runsOf(g.channels);
  packed->functions = gemm::functions(gemm::rowOrder(problem.batch_invariant));
  if (packed->runs.size() > 1) {
    packed->functions.slab = packed->functions.slab_of_short_sums;
  }
  return std::make_unique<SpreadKernel>(std::move(packed));
}

}  // namespace torchtrt::kernels::convolution
