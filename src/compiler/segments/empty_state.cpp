#include "compiler/segments/empty_state.h"

#include <algorithm>
#include <exception>

#include "base/logging.h"
#include "builder/builder.h"
#include "plan/equivalence.h"
#include "runtime/dtypes.h"

namespace torchtrt::compiler {

using conversion::BlockInput;
using conversion::ConversionRequest;
using partitioning::Observations;
using partitioning::ObservedType;
using partitioning::Segment;
using torch::jit::Value;

namespace {

// Returns the sizes that every first call gives, if they are of an empty tensor which the input itself cannot be.
std::vector<int64_t> emptyDimsOf(const Value& value, const BlockInput& input, const Observations& first_calls) {
  const ObservedType* const seen = first_calls.find(value);
  if (seen == nullptr || !seen->is_steady || seen->sizes.empty() || runtime::dtypeOf(seen->dtype) != input.dtype) {
    return {};
  }
  const std::vector<int64_t>& dims = seen->sizes.front();
  const bool is_same =
      std::all_of(seen->sizes.begin(), seen->sizes.end(), [&](const auto& other) { return other == dims; });
  if (!is_same || std::count(dims.begin(), dims.end(), 0) == 0) {
    return {};
  }
  return input.dims.isStatic() && input.dims.constants() != dims ? dims : std::vector<int64_t>();
}

// The segment's graph with zeros in the place of those inputs.
std::shared_ptr<torch::jit::Graph> withZeros(const Segment& segment, const ConversionRequest& request,
                                             const EmptyInputs& empty) {
  std::shared_ptr<torch::jit::Graph> graph = segment.graph->copy();
  const torch::jit::WithInsertPoint first(*graph->nodes().begin());
  for (const auto& [i, dims] : empty) {
    const BlockInput& input = request.inputs[i];
    const at::Tensor zeros = at::zeros(input.dims.constants(), runtime::scalarTypeOf(input.dtype));
    graph->inputs()[i]->replaceAllUsesWith(graph->insertConstant(zeros));
  }
  return graph;
}

// Returns the plan with the hashes of its weights alone: weights folded for it are not needed.
plan::Plan planOf(const torch::jit::Graph& graph, const ConversionRequest& request) {
  plan::Plan plan = builder::optimizeAndBuild(*conversion::convert(*graph.block(), request));
  for (plan::Weight& weight : plan.weights) {
    weight.data = nullptr;
  }
  return plan;
}

}  // namespace

EmptyInputs emptyInputs(const Segment& segment, const ConversionRequest& request, const Observations& first_calls) {
  EmptyInputs empty;
  ConversionRequest first_call = request;
  for (size_t i = 0; i < segment.inputs.size(); ++i) {
    if (auto dims = emptyDimsOf(*segment.inputs[i], request.inputs[i], first_calls); !dims.empty()) {
      first_call.inputs[i].dims = Dims::of(dims);
      empty[i] = std::move(dims);
    }
  }
  if (empty.empty()) {
    return {};
  }
  try {
    const plan::Plan of_empty = planOf(*segment.graph, first_call);
    const plan::Plan of_zeros = planOf(*withZeros(segment, request, empty), request);
    return plan::areEquivalent(of_empty, of_zeros) ? empty : EmptyInputs();
  } catch (const std::exception& error) {
    TORCHTRT_LOG(kDEBUG, "an empty state does not become an engine: " << error.what());
    return {};
  }
}

}  // namespace torchtrt::compiler
