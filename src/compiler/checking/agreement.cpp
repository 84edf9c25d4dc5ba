#include "compiler/checking/agreement.h"

#include <exception>

#include "base/logging.h"
#include "compiler/checking/bisection.h"
#include "compiler/checking/exact.h"
#include "compiler/checking/validation.h"
#include "compiler/module/plain_run.h"
#include "compiler/reports/text.h"
#include "compiler/segments/segment_engines.h"
#include "partitioning/observation.h"

namespace torchtrt::compiler {

namespace {

std::optional<std::string> wholeDifference(const lowering::LoweredGraph& lowered, const torch::jit::IValue& expected,
                                           const torch::jit::IValue& got,
                                           const std::function<std::optional<torch::jit::Stack>()>& in_double) {
  const at::ScalarType coarsest = coarsestOf(*lowered.graph);
  const auto difference = firstDifference(expected, got, coarsest);
  const auto exact = difference ? in_double() : std::nullopt;
  return exact && exact->size() == 1 ? firstDifference(expected, got, coarsest, exact->front()) : difference;
}

}  // namespace

std::optional<std::string> disagreement(const Source& source, const torch::jit::Module& module,
                                        const lowering::LoweredGraph& lowered,
                                        const std::vector<torch::jit::IValue>& samples) {
  const bool has_state = lowered.has_self;
  if (samples.empty()) {
    return std::nullopt;
  }
  const c10::AutoGradMode gradients(lowered.computes_gradients);
  // Methods may write to their arguments and attributes, and draw random numbers.
  const auto copied = [&samples] {
    std::vector<torch::jit::IValue> copies;
    for (const torch::jit::IValue& sample : samples) {
      copies.push_back(sample.deepcopy());
    }
    return copies;
  };
  const partitioning::KeepRandomState keep_random_state;
  const Source reference = has_state ? owned(source) : source;
  torch::jit::IValue expected;
  std::optional<std::string> raised;
  try {
    expected = run(reference, lowered, copied());
  } catch (const std::exception& error) {
    raised = messageOf(error.what());
  }
  keep_random_state.restore();
  torch::jit::Module compiled = has_state ? module.deepcopy() : module;
  std::optional<std::string> difference;
  try {
    const torch::jit::IValue got = PlainMethod(compiled, source.method)(copied());
    difference = raised ? raised : wholeDifference(lowered, expected, got, [&] {
      // What a call leaves in the module would be left in float64.
      return has_state ? std::nullopt : interpretInDouble(*lowered.graph, argumentsOf(reference, lowered, samples));
    });
  } catch (const std::exception& error) {
    // What raises in PyTorch raises when it is compiled, too.
    difference = raised ? std::nullopt : std::optional(std::string("it fails: ") + error.what());
  }
  if (raised && !difference) {
    TORCHTRT_LOG(kWARNING, "the module raises on the sample inputs: " << *raised);
  }
  if (raised && difference) {
    throw CompileError(ErrorCode::kInvalidInputSpec, "the module raises on the sample inputs: " + *raised, {},
                       "give sample inputs that it takes, or shapes and no tensors");
  }
  return difference ? std::optional("the engine disagrees with PyTorch on the sample inputs: " + *difference)
                    : std::nullopt;
}

void rejectDisagreement(const std::string& message) {
  if (isStrict()) {
    throw InternalError(message);
  }
  throw CompileError(
      ErrorCode::kConversionFailed, message, {},
      "this is a bug of torchtrt: please report the module; to leave the check out, give shapes and no tensors");
}

void refuseFirstThatDisagrees(
    const partitioning::Partition& partition, const std::string& difference, partitioning::PartitioningOptions& options,
    const std::function<std::optional<std::string>(partitioning::PartitioningOptions)>& attempt) {
  std::vector<const torch::jit::Node*> nodes;  // of engines
  for (const partitioning::Segment* segment :
       partitioning::segmentsOf(partition.segments, partitioning::Target::kEngine)) {
    nodes.insert(nodes.end(), segment->nodes.begin(), segment->nodes.end());
  }
  const Refusal refusal{"disagrees", difference};
  const auto disagrees_with_first = [&](size_t count) {
    partitioning::PartitioningOptions without_rest = options;
    for (size_t i = count; i < nodes.size(); ++i) {
      without_rest.refused.emplace(nodes[i], refusal);
    }
    return attempt(without_rest).has_value();
  };
  options.refused.emplace(nodes[leastFailing(nodes.size(), disagrees_with_first) - 1], refusal);
}

}  // namespace torchtrt::compiler
