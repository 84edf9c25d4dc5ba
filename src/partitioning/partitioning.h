// LoweredGraph -> Partition. A function that is passed in says which nodes can be converted, so nothing here knows of
// converters. BlockPartitioner::run() in block_partitioner.cpp is the algorithm on a page; document 000 describes it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <torch/script.h>

#include "partitioning/partition.h"
#include "partitioning/roles.h"
#include "partitioning/user_choice.h"
#include "torchtrt/error.h"
#include "torchtrt/export.h"

namespace torchtrt::partitioning {

// The refusal code of what is copied to where it is needed: no lack.
inline constexpr const char* kCarriedCode = "carried";

using ConvertibleQuestion = std::function<std::optional<Refusal>(const torch::jit::Node& node)>;

struct PartitioningOptions {
  UserChoice user_choice;
  std::optional<uint64_t> min_block_size;  // nothing: by what an engine saves
  bool require_full_compilation = false;
  std::string what;  // what is compiled, for messages: "__torch__.LeNet.forward"
  // The nodes that failed so far. They could have been converted without this.
  std::unordered_map<const torch::jit::Node*, Refusal> refused;
  // These nodes have data-dependent sizes: an engine ends with them, and their readers are behind it.
  std::unordered_set<const torch::jit::Node*> late;
  // Tensors that no engine takes or gives.
  std::unordered_set<const torch::jit::Value*> inner;
};

// Throws CompileError only where full compilation is required: kUnsupportedOperator naming every node that stands in
// the way, kInvalidModule where there is nothing to compile.
TORCHTRT_API Partition partition(const std::shared_ptr<torch::jit::Graph>& graph, const Roles& roles,
                                 const ConvertibleQuestion& refusal_of, const PartitioningOptions& options = {});
TORCHTRT_API Partition partition(const std::shared_ptr<torch::jit::Graph>& graph, const ConvertibleQuestion& refusal_of,
                                 const PartitioningOptions& options = {});

// "%3 : Tensor = aten::lgamma(%x) # model.py:5:8"
TORCHTRT_API std::string describe(const torch::jit::Node& node);

}  // namespace torchtrt::partitioning
