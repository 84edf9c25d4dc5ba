#include "compiler/checking/agreement.h"

#include <exception>
#include <memory>

#include <c10/util/Exception.h>

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

using torch::jit::IValue;

struct NoWarnings : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

// A call in PyTorch and in the compiled module, with the same random numbers.
class Trial {
 public:
  Trial(const Source& source, const lowering::LoweredGraph& lowered, const TrialCall& call, at::ScalarType coarsest)
      : source_(source), lowered_(lowered), call_(call), coarsest_(coarsest) {}

  std::optional<std::string> difference(const torch::jit::Module& module) {
    const c10::AutoGradMode gradients(lowered_.computes_gradients);
    NoWarnings no_warnings;
    const auto quiet =
        call_.is_made_up ? std::make_unique<c10::WarningUtils::WarningHandlerGuard>(&no_warnings) : nullptr;
    const partitioning::KeepRandomState keep_random_state;
    const std::optional<std::string> raised = runInPyTorch();
    if (raised && call_.is_made_up) {
      TORCHTRT_LOG(kDEBUG,
                   "results are not compared with PyTorch, which raises on " << call_.describe() << ": " << *raised);
      return std::nullopt;
    }
    keep_random_state.restore();
    torch::jit::Module compiled = hasState() ? module.deepcopy() : module;
    IValue got;
    try {
      got = PlainMethod(compiled, source_.method)(copied());
    } catch (const std::exception& error) {
      if (raised) {  // what raises in PyTorch raises when it is compiled, too
        TORCHTRT_LOG(kWARNING, "the module raises on the sample inputs: " << *raised);
        return std::nullopt;
      }
      return std::string("it fails: ") + error.what();
    }
    if (raised) {
      throw CompileError(ErrorCode::kInvalidInputSpec, "the module raises on the sample inputs: " + *raised, {},
                         "give sample inputs that it takes, or shapes and no tensors");
    }
    return differenceFrom(got);
  }

 private:
  bool hasState() const {
    return lowered_.has_self;
  }

  // Methods may write to their arguments and attributes.
  std::vector<IValue> copied() const {
    std::vector<IValue> copies;
    for (const IValue& argument : call_.arguments) {
      copies.push_back(argument.deepcopy());
    }
    return copies;
  }

  std::optional<std::string> runInPyTorch() {
    try {
      expected_ = run(hasState() ? owned(source_) : source_, lowered_, copied());
      return std::nullopt;
    } catch (const std::exception& error) {
      return messageOf(error.what());
    }
  }

  std::optional<std::string> differenceFrom(const IValue& got) const {
    // A call that nobody asked for is to cost no more runs for what float64 may excuse.
    auto difference =
        call_.is_made_up ? grossDifference(expected_, got, coarsest_) : firstDifference(expected_, got, coarsest_);
    if (!difference) {
      return std::nullopt;
    }
    const IValue exact = inDouble();
    difference = firstDifference(expected_, got, coarsest_, exact);
    return difference && call_.is_made_up ? steadyDifference(got, exact) : difference;
  }

  // Returns the results in float64; None if PyTorch does not run so. The state of a module stays in its dtypes, which
  // is near enough to tell what rounding decides.
  IValue inDouble() const {
    if (hasState() && !call_.is_made_up) {
      return {};
    }
    const Source source = hasState() ? owned(source_) : source_;
    const auto results = interpretInDouble(*lowered_.graph, argumentsOf(source, lowered_, copied()));
    return results && results->size() == 1 ? results->front() : IValue();
  }

  // Sets elements to 0 where PyTorch gives NaN. Made-up arguments make no sense there, and PyTorch's fused and plain
  // operators differ: for rows of attention that a mask leaves nothing of, say.
  static IValue withoutNaNOf(const IValue& expected, const IValue& value) {
    const bool may_have = expected.isTensor() && value.isTensor() && expected.toTensor().is_floating_point() &&
                          expected.toTensor().layout() == at::kStrided && value.toTensor().layout() == at::kStrided &&
                          expected.toTensor().sizes() == value.toTensor().sizes();
    return may_have ? IValue(value.toTensor().masked_fill(at::isnan(expected.toTensor()), 0)) : value;
  }

  // Compares with results that PyTorch gives once more, with other random numbers and in float64.
  std::optional<std::string> steadyDifference(const IValue& got, const IValue& exact) const {
    IValue again;
    try {
      again = run(hasState() ? owned(source_) : source_, lowered_, copied());
    } catch (const std::exception&) {
      return std::nullopt;  // with these random numbers it raises
    }
    const std::vector<IValue> all_expected = resultsIn(expected_), all_got = resultsIn(got);
    const std::vector<IValue> all_again = resultsIn(again), all_exact = resultsIn(exact);
    if (all_expected.size() != all_got.size() || all_expected.size() != all_again.size()) {
      return firstDifference(expected_, got, coarsest_, exact);
    }
    for (size_t i = 0; i < all_expected.size(); ++i) {
      const auto without_nan = [&](const std::vector<IValue>& all) { return withoutNaNOf(all_expected[i], all[i]); };
      const bool has_exact = all_exact.size() == all_expected.size() && !exact.isNone();
      const IValue wanted = without_nan(all_expected);
      const IValue judge = has_exact ? without_nan(all_exact) : IValue();
      const auto difference = firstDifference(wanted, without_nan(all_got), coarsest_, judge);
      const bool is_steady = !firstDifference(wanted, without_nan(all_again), coarsest_) &&
                             (!has_exact || isRounded(wanted, judge, coarsest_));
      if (difference && is_steady) {
        return all_expected.size() > 1 ? "value " + std::to_string(i) + ": " + *difference : *difference;
      }
      if (difference) {
        TORCHTRT_LOG(kDEBUG, "result " << i << " is not compared with PyTorch, which gives it in two ways on "
                                       << call_.describe());
      }
    }
    return std::nullopt;
  }

  static std::vector<IValue> resultsIn(const IValue& value) {
    return value.isTuple()
               ? std::vector<IValue>(value.toTupleRef().elements().begin(), value.toTupleRef().elements().end())
               : std::vector<IValue>{value};
  }

  const Source& source_;
  const lowering::LoweredGraph& lowered_;
  const TrialCall& call_;
  at::ScalarType coarsest_;
  IValue expected_;
};

}  // namespace

std::optional<std::string> disagreement(const Source& source, const torch::jit::Module& module,
                                        const lowering::LoweredGraph& lowered, const TrialCall& call) {
  const auto difference = Trial(source, lowered, call, coarsestOf(*lowered.graph, module)).difference(module);
  return difference ? std::optional("the engine disagrees with PyTorch on " + call.describe() + ": " + *difference)
                    : std::nullopt;
}

void rejectDisagreement(const std::string& message) {
  if (isStrict()) {
    throw InternalError(message);
  }
  throw CompileError(
      ErrorCode::kConversionFailed, message, {},
      "this is a bug of torchtrt: please report the module; to leave the check out, set check_results to false");
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
