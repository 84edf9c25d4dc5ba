#include "cuda/recurrent/recurrent.h"

#include <string>

#include "cuda/launch/activation.h"
#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"
#include "cuda/launch/types.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;
using kernels::TensorDesc;

std::unique_ptr<kernels::Prepared> prepareRecurrent(const Layer& layer, const ShapeSet& shapes) {
  enum : size_t { kInput, kWeights, kBias, kState, kCell };
  const TensorDesc& input = shapes.inputs.at(kInput);
  const int64_t steps = input.dims.at(0), batch = input.dims.at(1), size = shapes.inputs.at(kWeights).dims.at(1);
  const std::string op = layer.attributes.getString("op");
  const bool is_lstm = op == "lstm", is_gru = op == "gru";
  Source source;
  source.define("STORED", storedType(input.dtype)).define("A", computedType(input.dtype));
  source.define("LSTM", int64_t{is_lstm}).define("GRU", int64_t{is_gru});
  source.define("GATES", is_lstm ? int64_t{4} : is_gru ? int64_t{3} : int64_t{1});
  defineActivation(source, op == "rnn_relu" ? "relu" : "tanh", input.dtype);
  source.include("text/storage.cuh").include("text/functions.cuh").include("recurrent/recurrent.cuh");
  auto launches = std::make_unique<Launches>(layer.device);
  const size_t state_bytes = static_cast<size_t>(batch * size) * (input.dtype == DType::kFloat64 ? 8 : 4);
  const int64_t states = launches->reserve(2 * state_bytes), cells = launches->reserve(state_bytes);
  Arguments arguments;
  const auto strides = [&](const TensorDesc& desc) -> Arguments& {
    return arguments.bytes(desc.strides.data(), desc.strides.size() * sizeof(int64_t));
  };
  const TensorDesc none = {input.dtype, {0, 0}, {0, 0}};
  arguments.value(steps).value(batch).value(size).value(int64_t{layer.attributes.getBool("reverse", false)});
  strides(input).input(kInput);
  strides(shapes.inputs[kWeights]).input(kWeights);
  arguments.value(layer.has(kBias) ? shapes.inputs[kBias].strides.at(0) : int64_t{0});
  layer.add(arguments, kBias);
  strides(shapes.inputs.at(kState)).input(kState);
  is_lstm ? strides(shapes.inputs.at(kCell)).input(kCell) : (strides(none), arguments.absent());
  arguments.scratch(states).scratch(cells);
  strides(shapes.outputs.at(0)).output(0);
  strides(shapes.outputs.at(1)).output(1);
  is_lstm ? strides(shapes.outputs.at(2)).output(2) : (strides(none), arguments.absent());
  constexpr unsigned kThreads = 256;
  launches->add(source, "recurrent", blocksFor(batch, kThreads), std::move(arguments));
  return launches;
}

}  // namespace

kernels::CreateResult createRecurrent(const kernels::Problem& problem) {
  return launched(problem, prepareRecurrent);
}

}  // namespace torchtrt::cuda
