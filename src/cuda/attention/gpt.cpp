#include <algorithm>
#include <string_view>

#include "cuda/attention/attention.h"
#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"
#include "cuda/launch/plugin.h"
#include "cuda/launch/types.h"
#include "kernels/attention/gpt_fields.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;
using kernels::attention::GptFields;

constexpr unsigned kThreads = 256;

// Heads and Cache of gpt.cuh.
struct HeadsArgument {
  int64_t batch, tokens;
  int64_t heads, kv_heads, size;
  int64_t rotary_dim, capacity;
};
struct CacheArgument {
  int64_t sequence = 0, which = 0, head = 0, position = 0, channel = 0;
};

// An operand that a layer may have; a step of 0 and a null pointer where it has none.
struct Optional {
  int index;
  const TensorDesc* desc;

  Optional(const GptFields& fields, const ShapeSet& shapes, std::string_view name)
      : index(fields.indexOf(name)), desc(index < 0 ? nullptr : &shapes.inputs.at(static_cast<size_t>(index))) {}
  int64_t step() const {
    return desc == nullptr ? 0 : desc->strides.at(0);
  }
  const char* type() const {
    return storedType(desc == nullptr ? DType::kInt64 : desc->dtype);
  }
  Arguments& addTo(Arguments& arguments) const {
    return desc == nullptr ? arguments.absent() : arguments.input(static_cast<size_t>(index));
  }
};

CacheArgument cacheOf(const TensorDesc* desc) {
  return desc == nullptr ? CacheArgument{}
                         : CacheArgument{desc->strides.at(0), desc->strides.at(1), desc->strides.at(2),
                                         desc->strides.at(3), desc->strides.at(4)};
}

std::unique_ptr<kernels::Prepared> prepareGptAttention(const Layer& layer, const ShapeSet& shapes) {
  checkPluginShapes(layer.attributes, shapes);
  const GptFields fields = GptFields::of(layer.attributes);
  const TensorDesc& qkv = shapes.inputs.at(0);
  const TensorDesc& context = shapes.outputs.at(0);
  const TensorDesc* const present = shapes.outputs.size() > 1 ? &shapes.outputs[1] : nullptr;
  const Optional lengths(fields, shapes, "context_lengths"), pasts(fields, shapes, "past_lengths");
  const Optional past(fields, shapes, "past_key_value"), bias(fields, shapes, "qkv_bias");
  const int64_t rows = qkv.dims[0] * qkv.dims[1], pairs = fields.rotary_dim / 2;
  const int64_t count = lengths.desc == nullptr ? qkv.dims[0] : lengths.desc->dims.at(0);
  const HeadsArgument heads = {qkv.dims[0],
                               qkv.dims[1],
                               fields.num_heads,
                               fields.num_kv_heads,
                               fields.head_size,
                               fields.rotary_dim,
                               present == nullptr ? -1 : present->dims.at(3)};
  const CacheArgument to_context = {context.strides.at(0), 0, 0, context.strides.at(1), context.strides.at(2)};
  Source source;
  source.define("STORED", storedType(qkv.dtype)).define("THREADS", int64_t{kThreads});
  source.define("LENGTH", lengths.type()).define("PAST_LENGTH", pasts.type());
  source.define("INTERLEAVED", int64_t{fields.rotary_interleaved}).define("CAUSAL", int64_t{fields.causal});
  source.include("text/storage.cuh").include("text/reduction.cuh").include("text/faults.cuh");
  source.include("text/scan.cuh").include("attention/running_softmax.cuh").include("attention/gpt.cuh");
  auto launches = std::make_unique<Launches>(layer.device);
  const auto reserve = [&](int64_t numbers, size_t size) {
    return launches->reserve(static_cast<size_t>(numbers) * size);
  };
  constexpr int64_t kSequenceNumbers = 4;
  const int64_t sequences = reserve((count + 1) * kSequenceNumbers, sizeof(int64_t));
  const int64_t positions = reserve(rows, sizeof(int64_t)), turns = reserve(rows * pairs * 2, sizeof(float));
  const int64_t tokens = reserve(rows * fields.qkvSize(), sizeof(float));
  {
    Arguments arguments;
    lengths.addTo(arguments.value(count).value(heads).value(lengths.step()));
    pasts.addTo(arguments.value(pasts.step())).scratch(sequences).fault();
    launches->add(source, "gpt_sequences", blocksFor(1, kThreads), std::move(arguments));
  }
  {
    Arguments arguments;
    arguments.value(count).value(heads).value(fields.rotary_base).scratch(sequences).scratch(positions).scratch(turns);
    launches->add(source, "gpt_positions", geometryFor(rows * std::max<int64_t>(pairs, 1)), std::move(arguments));
  }
  {
    Arguments arguments;
    arguments.value(heads).value(qkv.strides.at(0)).value(qkv.strides.at(1)).value(qkv.strides.at(2)).input(0);
    bias.addTo(arguments.value(bias.step())).scratch(positions).scratch(turns).scratch(tokens);
    arguments.value(to_context).output(0);
    launches->add(source, "gpt_tokens", geometryFor(rows * fields.qkvSize()), std::move(arguments));
  }
  if (present != nullptr) {
    Arguments arguments;
    arguments.value(countOf(present->dims)).value(heads).scratch(sequences).scratch(tokens);
    past.addTo(arguments.value(cacheOf(past.desc))).value(cacheOf(present)).output(1);
    launches->add(source, "gpt_cache", geometryFor(countOf(present->dims)), std::move(arguments));
  }
  // No more tiles than these: the last of each sequence may not be full.
  const int64_t blocks = (rows / 16 + count) * fields.num_heads * ((fields.head_size + 63) / 64);
  Arguments arguments;
  arguments.value(blocks).value(count).value(heads).value(static_cast<float>(fields.scale()));
  past.addTo(arguments.scratch(sequences).scratch(tokens).value(cacheOf(past.desc))).value(to_context).output(0);
  launches->add(source, "gpt_attention", blocksFor(blocks, kThreads), std::move(arguments));
  return launches;
}

}  // namespace

kernels::CreateResult createGptAttention(const kernels::Problem& problem) {
  if (std::optional<Refusal> refusal = refuseOtherPlugin(problem, "tensorrt_llm", "GPTAttention")) {
    return *refusal;
  }
  return launched(problem, prepareGptAttention);
}

}  // namespace torchtrt::cuda
