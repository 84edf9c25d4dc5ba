// Engines beside PyTorch in one call: SegmentEngines::validate().
#include <algorithm>

#include "compiler/checking/exact.h"
#include "compiler/checking/validation.h"
#include "compiler/checking/watch.h"
#include "compiler/module/plain_run.h"
#include "compiler/reports/text.h"
#include "compiler/segments/segment_engines.h"
#include "runtime/execute.h"

namespace torchtrt::compiler {

using partitioning::Partition;
using partitioning::Segment;
using torch::jit::IValue;
using torch::jit::Node;
using torch::jit::Value;

namespace {

// Describes the first difference of an engine of these operators from PyTorch's results, or the engine's failure.
std::optional<std::string> differenceOf(const Segment& part, const runtime::Engine& engine,
                                        const torch::jit::Stack& stack, const torch::jit::Stack& wanted) {
  std::vector<at::Tensor> inputs;
  for (const IValue& input : stack) {
    inputs.push_back(input.toTensor());
  }
  const auto holder = c10::intrusive_ptr<runtime::Engine>::reclaim_copy(const_cast<runtime::Engine*>(&engine));
  try {
    const std::vector<at::Tensor> got = runtime::executeEngine(inputs, holder);
    const at::ScalarType coarsest = coarsestOf(*part.graph, engine);
    const auto difference_beside = [&](const torch::jit::Stack& exact) -> std::optional<std::string> {
      for (size_t i = 0; i < got.size(); ++i) {
        const IValue judge = exact.empty() ? IValue() : exact[i];
        const auto difference = firstDifference(wanted[i], got[i], coarsest, judge);
        if (difference && !hasAnyElements(*part.outputs[i])) {
          return difference;
        }
      }
      return std::nullopt;
    };
    const std::optional<std::string> difference = difference_beside({});
    const auto exact = difference ? interpretInDouble(*part.graph, stack) : std::nullopt;
    return exact ? difference_beside(*exact) : difference;
  } catch (const std::exception& error) {
    return std::string("it fails: ") + messageOf(error.what());
  }
}

}  // namespace

// Validates segment by segment. The insides of branches and loops are compared with them as a whole, when the module
// is.
Failures SegmentEngines::validate(const Partition& partition, const TrialCall& call) {
  Failures failures;
  seconds_.clear();
  const bool is_flat = std::all_of(partition.segments.begin(), partition.segments.end(),
                                   [](const Segment& segment) { return segment.blocks.empty(); });
  std::unordered_map<const Value*, IValue> values;
  if (lowered_.has_self) {
    values[lowered_.graph->inputs()[0]] = options_.self.deepcopy();
  }
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    values[lowered_.graph->inputs()[i + leaves_.first_argument]] = call.arguments[i].deepcopy();
  }
  for (const Segment& segment : partition.segments) {
    torch::jit::Stack inputs;
    for (const Value* input : segment.inputs) {
      const auto known = values.find(input);
      if (known == values.end()) {
        return failures;  // an argument with a default, or taken out of a collection
      }
      inputs.push_back(known->second);
    }
    const auto start = Clock::now();
    torch::jit::Stack expected;
    try {
      expected = interpret(segment.graph, inputs);
    } catch (const std::exception&) {
      return failures;  // PyTorch raises, and what the module does then is compared as a whole
    }
    if (is_flat && !segment.nodes.empty()) {
      seconds_[segment.nodes.front()] = millisecondsSince(start) / 1e3;
    }
    const auto made = std::find_if(engines_.begin(), engines_.end(),
                                   [&](const SegmentEngine& engine) { return engine.segment == &segment; });
    if (made != engines_.end()) {
      if (const auto difference = differenceOf(segment, *made->engine, inputs, expected)) {
        const std::string message = "the engine disagrees with PyTorch on " + call.describe() + ": " + *difference;
        if (isStrict()) {
          throw InternalError(message);
        }
        const Node* culprit = firstFailing(segment, [&](const Segment& part) {
          const auto engine =
              runtime::Engine::fromPlan(options_.plan_of(*networkOf(part, made->name)), options_.target.placement);
          torch::jit::Stack stack;
          for (const Value* input : part.inputs) {
            stack.push_back(values.at(input));
          }
          if (const auto wrong = differenceOf(part, *engine, stack, interpret(part.graph, stack))) {
            throw InternalError(*wrong);
          }
        });
        failures.emplace(culprit, Refusal{"disagrees", message});
        return failures;
      }
    }
    for (size_t i = 0; i < segment.outputs.size(); ++i) {
      values[segment.outputs[i]] = expected[i];
    }
  }
  return failures;
}

}  // namespace torchtrt::compiler
