// LoweredGraph -> Partition. What can be converted is asked through a function, so that nothing here knows of
// converters. The whole graph becomes one engine segment; only collections at its borders stay with Torch.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <torch/script.h>

#include "partitioning/partition.h"
#include "torchtrt/error.h"
#include "torchtrt/export.h"

namespace torchtrt::partitioning {

// The refusal code of collections at the border, which stay with Torch without being a lack.
inline constexpr const char* kCollectionCode = "collection";

using ConvertibleQuestion = std::function<std::optional<Refusal>(const torch::jit::Node& node)>;

struct PartitioningOptions {
  std::set<std::string> torch_executed_ops;  // operators that the user wants in PyTorch, "aten::relu"
  std::string what;                          // what is compiled, for messages: "__torch__.LeNet.forward"
};

// One verdict per node of the graph, without constants, in order.
TORCHTRT_API std::vector<Verdict> judge(const torch::jit::Graph& graph, const ConvertibleQuestion& refusal_of,
                                        const PartitioningOptions& options = {});

// Throws CompileError: kUnsupportedOperator naming every node that cannot be converted, kInvalidModule where there is
// nothing to compile, kConversionFailed where an engine would have to take or give what is no tensor.
TORCHTRT_API Partition partition(const std::shared_ptr<torch::jit::Graph>& graph, const ConvertibleQuestion& refusal_of,
                                 const PartitioningOptions& options = {});

}  // namespace torchtrt::partitioning
