#include "cuda/attention/attention.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/align.h"
#include "cuda/attention/operands.h"
#include "cuda/launch/plugin.h"
#include "cuda/launch/types.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

// The heads in the channels of a tensor [B, S, channels], as [B, heads, S, size].
HeadMatrices headsOf(const TensorDesc& desc, int64_t heads, int64_t size, int64_t channel, bool sequence_first) {
  const size_t batch = sequence_first ? 1 : 0, sequence = 1 - batch;
  const int64_t step = desc.strides.at(2);
  return {{desc.dims.at(batch), heads, desc.dims.at(sequence), size},
          {desc.strides.at(batch), size * step, desc.strides.at(sequence), step},
          channel * step * static_cast<int64_t>(sizeOf(desc.dtype))};
}

// A mask in the shape of the scores; its first axis may be a part of theirs, and is repeated.
HeadMatrices maskOf(const TensorDesc& desc, Ints scores) {
  if (desc.dims.size() == scores.size() && scores.size() > 2 && desc.dims[0] > 1) {
    scores[0] = desc.dims[0];
  }
  return {scores, broadcastStrides(desc, scores), 0};
}

void add(Arguments& arguments, const HeadMatrices& matrices) {
  const auto axes = static_cast<std::ptrdiff_t>(matrices.dims.size()) - 2;
  addWalk(arguments, {matrices.dims.begin(), matrices.dims.begin() + axes},
          {matrices.strides.begin(), matrices.strides.begin() + axes});
  arguments.bytes(&matrices.strides[static_cast<size_t>(axes)], 2 * sizeof(int64_t));
}

}  // namespace

AttentionOperands attentionOperands(const Attributes& fields, const ShapeSet& shapes) {
  const TensorDesc &q = shapes.inputs.at(kQ), &k = shapes.inputs.at(kK), &v = shapes.inputs.at(kV);
  const TensorDesc& out = shapes.outputs.at(0);
  const int64_t heads = fields.getInt("heads", 0);
  if (heads == 0) {
    AttentionOperands operands = {
        {q.dims, q.strides}, {k.dims, k.strides}, {v.dims, v.strides}, {out.dims, out.strides}};
    if (!fields.getBool("transpose_k")) {
      std::swap(operands.k.strides.at(k.dims.size() - 2), operands.k.strides.back());
    }
    return operands;
  }
  const bool sequence_first = fields.getBool("sequence_first", false);
  const auto seen = [&](const TensorDesc& desc, const char* size, const char* channel) {
    return headsOf(desc, heads, fields.getInt(size), fields.getInt(channel), sequence_first);
  };
  return {seen(q, "head_size", "q_channel"), seen(k, "head_size", "k_channel"), seen(v, "value_size", "v_channel"),
          headsOf(out, heads, fields.getInt("value_size"), 0, sequence_first)};
}

int64_t in16s(int64_t size) {
  return std::max<int64_t>(16, (size + 15) / 16 * 16);
}

// Elements of 16 bits, heads whose keys and values fit into the memory of a block, and a GPU that multiplies both
// kinds.
bool fitsTensorCores(const CudaDevice& device, DType dtype, int64_t size, int64_t columns) {
  constexpr int64_t kMostSize = 128;
  constexpr int kAmpere = 80;
  return (dtype == DType::kFloat16 || dtype == DType::kBFloat16) && size <= kMostSize && columns <= kMostSize &&
         device.capability() >= kAmpere;
}

Source attentionSource(const Layer& layer, const ShapeSet& shapes, const AttentionOperands& operands) {
  const auto maskType = [&](size_t mask) {
    return layer.has(mask) ? storedType(shapes.inputs[mask].dtype) : storedType(DType::kBool);
  };
  Source source;
  source.define("STORED", storedType(shapes.inputs[kQ].dtype));
  source.define("BATCH", static_cast<int64_t>(operands.q.dims.size()) - 2);
  source.define("FIRST", maskType(kFirstMask)).define("SECOND", maskType(kSecondMask));
  source.define("HAS_FIRST", int64_t{layer.has(kFirstMask)}).define("HAS_SECOND", int64_t{layer.has(kSecondMask)});
  source.include("text/storage.cuh").include("text/reduction.cuh").include("attention/masks.cuh");
  return source;
}

Arguments attentionArguments(const Layer& layer, const ShapeSet& shapes, const AttentionOperands& operands) {
  const Ints& dims = operands.q.dims;
  const size_t rank = dims.size();
  Ints scores = dims;
  scores.back() = operands.v.dims[rank - 2];
  Arguments arguments;
  arguments.value(countOf({dims.begin(), dims.end() - 2})).value(dims[rank - 2]).value(scores.back());
  arguments.value(dims.back()).value(operands.v.dims.back());
  arguments.value(static_cast<float>(layer.attributes.getDouble("scale")));
  arguments.value(int64_t{layer.attributes.getBool("safe", false)});
  const HeadMatrices* const read[] = {&operands.q, &operands.k, &operands.v};
  for (size_t i = 0; i < std::size(read); ++i) {
    add(arguments, *read[i]);
    arguments.input(i, read[i]->offset);
  }
  for (const size_t mask : {kFirstMask, kSecondMask}) {
    add(arguments, layer.has(mask) ? maskOf(shapes.inputs[mask], scores) : HeadMatrices{scores, Ints(rank, 0), 0});
    layer.add(arguments, mask);
  }
  add(arguments, operands.out);
  arguments.output(0);
  return arguments;
}

std::unique_ptr<kernels::Prepared> prepareAttention(const Layer& layer, const ShapeSet& shapes) {
  const Attributes& fields = layer.attributes;
  checkPluginShapes(fields, shapes);
  const AttentionOperands operands = attentionOperands(fields, shapes);
  const Ints& dims = operands.q.dims;
  const size_t rank = dims.size();
  const int64_t heads = countOf({dims.begin(), dims.end() - 2});
  const int64_t rows = dims[rank - 2], columns = operands.v.dims.back();
  const bool on_tensor_cores = fitsTensorCores(layer.device, shapes.inputs[kQ].dtype, dims.back(), columns);
  Source source = attentionSource(layer, shapes, operands);
  if (on_tensor_cores) {
    source.define("SIZE", in16s(dims.back())).define("COLUMNS", in16s(columns));
    source.include("text/chunks.cuh")
        .include("text/mma.cuh")
        .include("text/inputs.cuh")
        .include("attention/tensor_cores.cuh");
  } else {
    source.include("attention/running_softmax.cuh").include("attention/attention.cuh");
  }
  auto launches = std::make_unique<Launches>(layer.device);
  const Geometry geometry = on_tensor_cores ? blocksFor(heads * ceilDiv(rows, 64), 128)
                                            : blocksFor(heads * ceilDiv(rows, 16) * ceilDiv(columns, 64), 256);
  launches->add(source, "attention", geometry, attentionArguments(layer, shapes, operands));
  return launches;
}

kernels::CreateResult createAttention(const kernels::Problem& problem) {
  if (std::optional<Refusal> refusal = refuseOtherPlugin(problem, "torchtrt", "Attention")) {
    return *refusal;
  }
  return launched(problem, prepareAttention);
}

}  // namespace torchtrt::cuda
