#include "conversion/convert_text.h"

#include <torch/csrc/jit/ir/irparser.h>

namespace torchtrt::conversion::testing {

std::shared_ptr<torch::jit::Graph> parse(const std::string& text) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(text, graph.get(), /*parse_tensor_constants=*/true);
  return graph;
}

std::unique_ptr<network::Network> networkOf(const std::string& text, const std::vector<Spec>& inputs, bool is_whole) {
  ConversionRequest request;
  request.name = "test";
  request.is_whole = is_whole;
  request.symbols = {{"s0", 2, 4, 8}};
  for (const Spec& input : inputs) {
    request.inputs.push_back({"input_" + std::to_string(request.inputs.size()), input.dtype, input.dims});
  }
  const auto graph = parse(text);
  auto network = convert(*graph->block(), request);
  network::verify(*network);
  return network;
}

std::vector<std::string> layersOf(const std::string& text, const std::vector<Spec>& inputs, bool is_whole) {
  std::vector<std::string> lines;
  const auto network = networkOf(text, inputs, is_whole);
  for (const network::Layer* layer : network->layers()) {
    if (layer->getType() == network::LayerType::kCONSTANT) {
      continue;
    }
    const std::string op = layer->attributes().has("op") ? ":" + layer->attributes().getString("op") : "";
    const network::Tensor& output = *layer->getOutput(0);
    lines.push_back(layer->info().name + op + " " + toString(output.getType()) + output.getDimensions().toString());
  }
  return lines;
}

std::string errorOf(const std::string& text, const std::vector<Spec>& inputs) {
  try {
    networkOf(text, inputs);
  } catch (const CompileError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace torchtrt::conversion::testing
