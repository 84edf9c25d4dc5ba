// Watches a forward of the compiled module, then has every engine that ran compared and timed on what reached it.
#include "torchtrt/verify.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>

#include <torch/csrc/jit/runtime/graph_executor.h>

#include "base/median.h"
#include "compiler/checking/held_engine.h"
#include "compiler/checking/validation.h"
#include "compiler/checking/watch.h"
#include "compiler/module/evaluation_mode.h"
#include "compiler/module/placing.h"
#include "compiler/reports/segment_report.h"
#include "compiler/target.h"
#include "conversion/conversion.h"
#include "lowering/lowering.h"
#include "partitioning/observation.h"
#include "runtime/execute.h"
#include "runtime/torch_device.h"
#include "stitching/stitching.h"
#include "torchtrt/error.h"
#include "torchtrt/runtime.h"

namespace torchtrt {

namespace {

using torch::jit::IValue;

// A loop's further calls are left out: their inputs are kept in memory.
constexpr size_t kComparedCalls = 100;

// Medians of so many readings each, in turn, so that what disturbs the machine disturbs both.
std::pair<double, double> timed(int calls, const at::Device& device, const std::function<void()>& a,
                                const std::function<void()>& b) {
  const auto millisecondsOf = [&device](const std::function<void()>& run) {
    runtime::synchronize(device);
    const auto start = compiler::Clock::now();
    run();
    runtime::synchronize(device);
    return compiler::millisecondsSince(start);
  };
  std::vector<double> of_a;
  std::vector<double> of_b;
  for (int i = 0; i < calls; ++i) {
    of_a.push_back(millisecondsOf(a));
    of_b.push_back(millisecondsOf(b));
  }
  return {median(std::move(of_a)), median(std::move(of_b))};
}

std::string locationOf(const std::vector<const torch::jit::Node*>& nodes) {
  for (const torch::jit::Node* node : nodes) {
    const Location location = conversion::util::locationOf(*node);
    if (!location.file.empty()) {
      return toString(location);
    }
  }
  return "";
}

// PyTorch's messages go on with what its own code was doing.
std::string firstLine(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

IValue tupleOf(const std::vector<IValue>& values) {
  return c10::ivalue::Tuple::create(values);
}

// Compares the results of the forwards, and what they leave in their inputs.
Verification::Deviation deviationOf(const IValue& expected, const IValue& got, const std::vector<IValue>& expected_left,
                                    const std::vector<IValue>& left, at::ScalarType coarsest) {
  Verification::Deviation results = compiler::deviation(expected, got, coarsest);
  Verification::Deviation inputs = compiler::deviation(tupleOf(expected_left), tupleOf(left), coarsest);
  if (!results.difference.empty() || inputs.difference.empty()) {
    return results;
  }
  inputs.difference = "what is left in the inputs, " + inputs.difference;
  return inputs;
}

bool differs(const Verification::Segment& segment) {
  return !segment.deviation.difference.empty();
}

void compare(const compiler::Watched& watched, int calls, Verification::Segment& segment) {
  const runtime::Engine& engine = *watched.engine;
  const std::vector<at::Tensor>* worst = nullptr;
  for (const std::vector<at::Tensor>& inputs : watched.inputs) {
    Verification::Deviation deviation = compiler::deviationOf(engine, inputs);
    if (worst == nullptr || deviation.ofAllowed() > segment.deviation.ofAllowed()) {
      segment.deviation = std::move(deviation);
      worst = &inputs;
    }
  }
  segment.was_compared = true;
  if (differs(segment)) {
    try {
      segment.culprit = compiler::firstDisagreeing(*engine.kept(), *worst);
    } catch (const std::exception& error) {
      segment.note = "which operator it is could not be found: " + firstLine(error);
    }
  }
  std::vector<at::Tensor> inputs = watched.inputs.front();
  std::tie(segment.engine_milliseconds, segment.torch_milliseconds) = timed(
      calls, engine.device(), [&] { runtime::runEngine(inputs, engine); }, [&] { engine.kept()->run(inputs); });
}

Verification::Segment segmentOf(const compiler::Watched& watched, int calls) {
  Verification::Segment segment;
  segment.name = watched.name;
  segment.calls = watched.calls;
  if (watched.engine->kept() == nullptr) {
    segment.note = "it keeps nothing to compare it with, having been compiled with require_full_compilation";
    return segment;
  }
  const auto graph = watched.engine->kept()->graph();
  const std::vector<const torch::jit::Node*> operators = compiler::operatorsOf(*graph);
  segment.location = locationOf(operators);
  for (const torch::jit::Node* node : operators) {
    segment.nodes.push_back(compiler::describe(*node));
  }
  try {
    compare(watched, calls, segment);
  } catch (const std::exception& error) {
    segment.note = firstLine(error);
  }
  return segment;
}

}  // namespace

bool Verification::agrees() const {
  return outputs.difference.empty() && first() == nullptr;
}

const Verification::Segment* Verification::first() const {
  const auto found = std::find_if(segments.begin(), segments.end(), differs);
  return found == segments.end() ? nullptr : &*found;
}

const Verification::Segment* Verification::worst() const {
  const auto found = std::max_element(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) {
    return a.deviation.ofAllowed() < b.deviation.ofAllowed();
  });
  return found == segments.end() || !differs(*found) ? nullptr : &*found;
}

namespace ts {

Verification verify(torch::jit::Module module, torch::jit::Module compiled, const std::vector<IValue>& inputs,
                    int calls) {
  if (calls < 1) {
    throw CompileError(ErrorCode::kInvalidOption, "calls is " + std::to_string(calls) + ", expected 1 or more");
  }
  if (module.hasattr(stitching::kJsonRecord) && !compiled.hasattr(stitching::kJsonRecord)) {
    throw CompileError(ErrorCode::kInvalidModule,
                       "the module to compare with is a compiled one, and the compiled one is not", {},
                       "give the module that was compiled first, and then what it was compiled to");
  }
  module = *compiler::inEvaluationMode({std::make_shared<torch::jit::Module>(module), "forward", nullptr}).module;
  compiled = *compiler::inEvaluationMode({std::make_shared<torch::jit::Module>(compiled), "forward", nullptr}).module;
  const c10::InferenceMode inference;
  // Forwards may write to arguments and attributes, and draw random numbers.
  module = module.deepcopy();
  compiled = compiled.deepcopy();
  const partitioning::KeepRandomState keep_random_state;
  const at::Device device = compiler::deviceOf(compiled);
  const auto copies = [&inputs](const at::Device& on) {
    std::vector<IValue> copied;
    std::transform(inputs.begin(), inputs.end(), std::back_inserter(copied),
                   [&](const IValue& input) { return compiler::placed(input.deepcopy(), on); });
    return copied;
  };
  const auto for_module = [&] { return copies(compiler::deviceOf(module)); };
  Verification verification;
  verification.threads = runtime::callThreads();
  verification.calls = calls;
  const std::vector<IValue> for_torch = for_module();
  const std::vector<IValue> for_engines = copies(device);
  IValue expected;
  {
    // libtorch's optimizer may drop writes that show, but makes the casts of autocast.
    const torch::jit::GraphOptimizerEnabledGuard as_written(lowering::entersAutocast(module, "forward"));
    expected = module.forward(for_torch);
  }
  keep_random_state.restore();
  IValue got;
  std::vector<compiler::Watched> watched;
  {
    compiler::Watch watch(kComparedCalls, compiler::Watch::Keeping::kCopies);
    watch.beginForward();
    got = compiled.forward(for_engines);
    watched = watch.watched();
  }
  verification.outputs = deviationOf(expected, got, for_torch, for_engines, compiler::coarsestOf(compiled));
  for (const compiler::Watched& each : watched) {
    if (each.engine != nullptr) {
      verification.segments.push_back(segmentOf(each, calls));
    }
  }
  // One that writes to its inputs gets new ones for every call, as part of the time.
  const bool writes = !compiler::deviation(tupleOf(inputs), tupleOf(for_torch)).difference.empty();
  std::tie(verification.torch_milliseconds, verification.engine_milliseconds) = timed(
      calls, device, [&] { module.forward(writes ? for_module() : for_torch); },
      [&] { compiled.forward(writes ? copies(device) : for_engines); });
  return verification;
}

}  // namespace ts
}  // namespace torchtrt
