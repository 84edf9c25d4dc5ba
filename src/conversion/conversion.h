// A block of a lowered graph -> Network. Converters append layers, evaluators compute what is known while compiling;
// the network keeps no trace of libtorch except for weights, whose storage it shares.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <torch/script.h>

#include "torchtrt/conversion.h"
#include "torchtrt/export.h"
#include "torchtrt/network.h"

namespace torchtrt::conversion {

// Describes an input of the block. Symbolic dims name symbols that `symbols` declares.
struct BlockInput {
  std::string name;  // binding name
  DType dtype = DType::kFloat32;
  Dims dims;
  bool channels_last = false;  // how callers usually give images; no promise
};

struct ConversionRequest {
  std::string name;                // of the network
  std::vector<BlockInput> inputs;  // one per input of the block, Tensor inputs only
  std::vector<Symbol> symbols;
  std::vector<std::string> output_names;  // empty: output_0, ...
  bool is_whole = false;                  // nothing may stay in PyTorch
  // If not null: gets the node that was being converted when convert() throws, if there was one.
  const torch::jit::Node** failed_node = nullptr;
  // If not null: gets the two dims that kept a layer from broadcasting when convert() throws, if two did.
  std::optional<std::pair<Dim, Dim>>* undecided = nullptr;
  // These are those of ConversionCtx.
  std::function<torch::jit::IValue(const torch::jit::IValue&)> host_constant = nullptr;
  std::function<std::optional<Refusal>(const network::Layer&)> refusal_of_layer = nullptr;
};

// Throws CompileError: kUnsupportedOperator (document 002's text: node, schema, source line, what to do) or
// kConversionFailed.
TORCHTRT_API std::unique_ptr<network::Network> convert(const torch::jit::Block& block,
                                                       const ConversionRequest& request);

// Why a node cannot be converted, if it cannot: the partitioner's question, by schema and arguments alone.
TORCHTRT_API std::optional<Refusal> refusalOf(const torch::jit::Node& node);
// The same where nothing may stay in PyTorch: warnings are then given while compiling, by what is known by then.
TORCHTRT_API std::optional<Refusal> refusalOfWhole(const torch::jit::Node& node);

// Values that are or hold complex tensors, which no engine takes or gives, as far as constants and operators tell.
TORCHTRT_API std::unordered_set<const torch::jit::Value*> complexValues(const torch::jit::Block& block);
// Why a node that takes such values cannot be converted, if that is because they are complex.
TORCHTRT_API std::optional<Refusal> refusalOfComplex(
    const torch::jit::Node& node, const std::unordered_set<const torch::jit::Value*>& complex_values);

// True if the node's results have data-dependent sizes. Those of masks have, too; only the walk sees these. It refuses
// with this code, for the node that gives them, if another of the block needs them.
inline constexpr const char* kLateSize = "late-size";
TORCHTRT_API bool hasLateSize(const torch::jit::Node& node);

}  // namespace torchtrt::conversion
