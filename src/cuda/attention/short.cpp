// Attention of so few queries and keys that all keys of a head fit into the memory of a block.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/align.h"
#include "cuda/attention/attention.h"
#include "cuda/attention/operands.h"
#include "cuda/launch/for_some.h"
#include "cuda/launch/plugin.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;

constexpr int64_t kRows = 16;  // as in the device code

struct Sizes {
  int64_t heads, rows, keys, size, columns;

  explicit Sizes(const AttentionOperands& operands)
      : heads(countOf({operands.q.dims.begin(), operands.q.dims.end() - 2})),
        rows(operands.q.dims[operands.q.dims.size() - 2]),
        keys(operands.v.dims[operands.v.dims.size() - 2]),
        size(operands.q.dims.back()),
        columns(operands.v.dims.back()) {}

  int64_t blocks() const {
    return heads * ((rows + kRows - 1) / kRows);
  }
  int64_t warps() const {
    constexpr int64_t kFew = 4, kMany = 8;
    return keys <= kFew * 16 ? kFew : kMany;
  }
  int64_t stagedKeys() const {
    const int64_t of_round = 16 * warps();
    return std::max<int64_t>(1, ceilDiv(keys, of_round)) * of_round;
  }
  // Bytes of the staged lines of a block, or of the sums of its warps, which take their place.
  int64_t sharedBytes() const {
    const int64_t staged = 2 * (kRows * in16s(size) + stagedKeys() * (in16s(size) + in16s(columns)));
    return std::max(staged, 4 * warps() * kRows * (in16s(columns) + 4));
  }
};

// cuDNN took 4.2 us for 12 heads of 64 tokens and 5.6 us for 12 of 197 on an H200, each with a fence in front of it.
bool isShort(const CudaDevice& device, DType dtype, const AttentionOperands& operands) {
  constexpr int64_t kMostKeys = 256, kMostBlocks = 320, kMostShared = int64_t{99} << 10;
  const Sizes sizes(operands);
  const auto isDense = [](const HeadMatrices& matrices) { return matrices.strides.back() == 1; };
  return fitsTensorCores(device, dtype, sizes.size, sizes.columns) && sizes.keys <= kMostKeys && sizes.blocks() > 0 &&
         sizes.blocks() <= kMostBlocks && sizes.sharedBytes() <= kMostShared && isDense(operands.q) &&
         isDense(operands.k) && isDense(operands.v);
}

// Null for longer sequences and for other strides.
std::unique_ptr<kernels::Prepared> prepare(const Layer& layer, const ShapeSet& shapes) {
  checkPluginShapes(layer.attributes, shapes);
  const AttentionOperands operands = attentionOperands(layer.attributes, shapes);
  if (!isShort(layer.device, shapes.inputs.at(kQ).dtype, operands)) {
    return nullptr;
  }
  const Sizes sizes(operands);
  Source source = attentionSource(layer, shapes, operands);
  source.define("SIZE", in16s(sizes.size)).define("COLUMNS", in16s(sizes.columns));
  source.define("MOST_KEYS", sizes.stagedKeys()).define("SHARED_BYTES", sizes.sharedBytes());
  source.define("WARPS", sizes.warps());
  source.include("text/chunks.cuh").include("text/inputs.cuh").include("text/mma.cuh").include("text/staging.cuh");
  source.include("text/block_memory.cuh").include("attention/short.cuh");
  Geometry geometry = blocksFor(sizes.blocks(), static_cast<unsigned>(32 * sizes.warps()));
  geometry.shared_bytes = static_cast<unsigned>(sizes.sharedBytes());
  auto launches = std::make_unique<Launches>(layer.device);
  launches->add(source, "attention", geometry, attentionArguments(layer, shapes, operands));
  return launches;
}

}  // namespace

kernels::CreateResult createShortAttention(const kernels::Problem& problem) {
  if (std::optional<Refusal> refusal = refuseOtherPlugin(problem, "torchtrt", "Attention")) {
    return *refusal;
  }
  const DType dtype = problem.inputs.at(kQ).dtype;
  if (!isFloating(dtype) || sizeOf(dtype) != 2) {
    return Refusal{"dtype", "tensor cores of this kernel take 16 bits"};
  }
  return launchedForSome(problem, prepare, {createCudnnAttention, createAttention});
}

std::optional<Refusal> leaveLongAttention(const kernels::Problem& problem) {
  if (std::optional<Refusal> refusal = refuseOtherPlugin(problem, "torchtrt", "Attention")) {
    return refusal;
  }
  const auto* const device = dynamic_cast<const CudaDevice*>(problem.device);  // null where somebody only asks
  ShapeSet shapes;
  for (const kernels::Operand& operand : problem.inputs) {
    shapes.inputs.push_back({operand.dtype, operand.opt_dims, kernels::denseStrides(operand.opt_dims, operand.order)});
  }
  const kernels::Operand& out = problem.outputs.at(0);
  shapes.outputs = {{out.dtype, out.opt_dims, kernels::denseStrides(out.opt_dims, out.order)}};
  if (device == nullptr ||
      !isShort(*device, problem.inputs.at(kQ).dtype, attentionOperands(*problem.attributes, shapes))) {
    return Refusal{"slower", "has too many queries or keys for one block each"};
  }
  return std::nullopt;
}

}  // namespace torchtrt::cuda
