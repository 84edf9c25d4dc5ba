#include "compiler/compile.h"

#include <optional>

#include "base/logging.h"
#include "compiler/attempts.h"
#include "compiler/calibration/calibration.h"
#include "compiler/calibration/weight_precision.h"
#include "compiler/checking/agreement.h"
#include "compiler/checking/trial_call.h"
#include "compiler/checks.h"
#include "compiler/compile_watch.h"
#include "compiler/inputs/impossible_inputs.h"
#include "compiler/inputs/input_specs.h"
#include "compiler/module/evaluation_mode.h"
#include "compiler/module/expected_calls.h"
#include "compiler/module/placing.h"
#include "compiler/module/plain_settings.h"
#include "compiler/module/precision_pins.h"
#include "compiler/module/source.h"
#include "compiler/phase_clock.h"
#include "compiler/reports/finished_report.h"
#include "compiler/segments/binaries.h"
#include "compiler/segments/kernel_choice.h"
#include "compiler/segments/segment_engines.h"
#include "compiler/segments/segment_options.h"
#include "compiler/segments/tensor_devices.h"
#include "compiler/segments/tuning.h"
#include "compiler/stitched_module.h"
#include "compiler/target.h"
#include "compiler/task.h"
#include "compiler/updates/choices.h"
#include "compiler/updates/recipe.h"
#include "conversion/conversion.h"
#include "partitioning/partitioning.h"
#include "runtime/recording/recorder.h"
#include "runtime/threads.h"
#include "runtime/weight_set.h"
#include "stitching/stitching.h"
#include "torchtrt/prepare.h"

namespace torchtrt::compiler {

namespace {

using partitioning::Partition;

// The call with which results are compared, if they are to be. A user's rewriters may compute what they like.
std::optional<TrialCall> trialOf(const Task& task, const std::vector<torch::jit::IValue>& samples,
                                 const SegmentEngines& engines) {
  if (!task.spec.check_results) {
    return std::nullopt;
  }
  if (!samples.empty()) {
    return TrialCall{samples};
  }
  const bool may_differ = engines.engines().empty() || !task.spec.rewriters.empty();
  // PyTorch ends the process's use of CUDA on a GPU if made-up values are none that an operator takes.
  const bool may_break = task.target.isGpu();
  return may_differ || may_break ? std::nullopt : madeUpCall(task.lowered, engines.leaves(), task.precision);
}

void rejectLostThreads() {
  if (runtime::waitsForLostTeam()) {
    throw CompileError(
        ErrorCode::kBuildFailed,
        "this process is a fork of one that had used PyTorch's threads, for which compiling would wait", {},
        "compile before the fork, or in a process of its own (spawn), or after torch.set_num_threads(1)");
  }
}

// Returns what is compiled of the source: in evaluation mode, on the target's device, with its weights cast.
Source checked(const Source& original, const ts::CompileSpec& spec, const DeviceTarget& target) {
  checkOptions(spec, target, original.module.get());
  if (original.module) {
    checkHooks(spec, *original.module, original.method);
  }
  return withPrecision(placed(inEvaluationMode(original), target.device), spec);
}

// Lowers with devices as they are where it will run.
lowering::LoweredGraph lowerFor(const DeviceTarget& target, const Source& source, lowering::LoweringOptions options) {
  lowering::LoweredGraph lowered = lower(source, std::move(options));
  if (target.mayMeetOthers()) {
    lowered.is_retargeted = retarget(*lowered.graph->block(), target);
  }
  if (target.isGpu()) {
    answerDeviceQuestions(*lowered.graph, target.device);
  }
  return lowered;
}

// Conversion, then optimization, building and loading, and validation where engines have borders.
Failures makeEngines(SegmentEngines& engines, const Partition& partition) {
  Failures failures = engines.convert(partition);
  if (failures.empty()) {
    failures = engines.build();
  }
  return failures.empty() ? engines.compare(partition) : failures;
}

// An update of weights keeps the partition: the module's code is fixed.
[[noreturn]] void rejectOtherPartition(const Failures& failures) {
  const auto& [node, refusal] = *failures.begin();
  throw CompileError(
      ErrorCode::kInvalidModule,
      "with these weights " + partitioning::describe(*node) + " cannot be in its engine: " + refusal.reason, {},
      "compile the module again with the new weights");
}

// Keeps the recipe in the module, for an update of weights.
void keepRecipe(const torch::jit::Module& module, const StoredSource& kept, const ts::CompileSpec& asked,
                const Choices& choices) {
  const std::string code = hashOfMethod(module, kept.source.method);
  module.attr(runtime::WeightSet::kAttribute)
      .toCustomClass<runtime::WeightSet>()
      ->setRecipe(serialize(kept, asked, choices, code));
}

// Names what is behind nodes of unknown types, or rejects inputs that no call can take.
void explainRefusals(SegmentEngines& engines, Partition& partition, PhaseClock& clock) {
  if (hasMisfits(partition)) {
    rejectImpossibleInputs(partition, *clock.run(Phase::kConversion, [&] { return &engines.observe(); }));
  }
  if (const partitioning::Observations* observations = engines.observations()) {
    nameCauses(partition, *observations);
  }
}

}  // namespace

Compiled compile(const Source& given, const ts::CompileSpec& asked, const Choices* choices) {
  rejectLostThreads();
  const PlainSettings settings;
  const runtime::recording::Pause not_recorded;  // checks and calibration call engines, too
  checkRefit(asked, given.module.get());
  const std::optional<StoredSource> kept =
      asked.refit && choices == nullptr ? std::optional(stored(given)) : std::nullopt;
  const Source& original = kept ? kept->source : given;
  PhaseClock clock;
  CompileWatch watch(asked.watcher, clock);
  const ts::CompileSpec spec = keepingInputs(asked, original.module.get());
  const DataType precision = weightPrecision(spec);
  const bool may_fall_back = !spec.require_full_compilation;
  const DeviceTarget target = targetOf(spec, original.module.get());

  const Source source = clock.run(Phase::kChecking, [&] {
    const Source cast = checked(original, spec, target);
    return carriesMethods(cast, spec) ? owned(cast) : cast;  // the result shares its weights with engines
  });
  lowering::LoweringOptions lowering;
  lowering.keep_state = may_fall_back;
  lowering.arguments_apart = true;
  lowering.precision = pinsFor(spec, source, precision);
  lowering.weights_may_change = spec.refit;
  lowering::LoweredGraph lowered = clock.run(Phase::kLowering, [&] { return lowerFor(target, source, lowering); });
  const InputLeaves leaves = clock.run(Phase::kChecking, [&] { return matchInputs(spec.graph_inputs, lowered); });
  const auto others = clock.run(Phase::kLowering, [&]() -> std::optional<OtherCalls> {
    if (lowered.written_arguments.empty()) {
      return expectCalls(lowered, leaves, spec);
    }
    if (!may_fall_back) {
      return std::nullopt;
    }
    lowering.arguments_apart = false;
    return overlappingCalls(lowered, lowerFor(target, source, lowering));
  });
  const Task task{source, lowered, spec, precision, target};
  const std::vector<torch::jit::IValue> samples = samplesOf(task);
  checkSamples(spec, samples, lowered.schema);

  const partitioning::Roles roles(lowered.graph);
  KernelChoice kernels(spec, target, clock);
  SegmentEngines engines(lowered, roles, leaves, segmentOptions(task, kernels, clock, others), clock);
  std::optional<torch::jit::Module> module;
  std::optional<TrialCall> trial;
  const auto stitch = [&](const Partition& partition) {
    module = clock.run(Phase::kStitching, [&] { return moduleOf(task, partition, engines.engines(), others); });
  };
  const auto attempt = [&](const Partition& partition) -> Attempts::Outcome {
    if (Failures failures = makeEngines(engines, partition); !failures.empty()) {
      if (choices != nullptr) {
        rejectOtherPartition(failures);
      }
      return {std::move(failures)};
    }
    stitch(partition);
    trial = clock.run(Phase::kValidation, [&] { return trialOf(task, samples, engines); });
    const auto compare = [&] { return disagreement(source, *module, lowered, *trial); };
    if (auto difference = trial ? clock.run(Phase::kValidation, compare) : std::nullopt) {
      return {{}, std::move(difference)};
    }
    if (!spec.tune || !may_fall_back) {
      return {};
    }
    return {clock.run(Phase::kTuning, [&] { return slowerEngines(engines, task, roles, *module, samples); })};
  };
  const auto blame = [&](const Partition& partition, const std::string& difference) -> Failures {
    if (isStrict() || !may_fall_back || choices != nullptr || engines.engines().empty()) {
      rejectDisagreement(difference);
    }
    // Only samples are held against each engine while it is made. Other engines, and the one of a module without
    // borders, were compared as a whole: their segments tell which node is to blame.
    const auto validate = [&] { return engines.validate(partition, *trial); };
    const bool is_unknown = partition.segments.size() == 1 || trial->is_made_up;
    return is_unknown ? clock.run(Phase::kValidation, validate) : Failures();
  };
  Attempts attempts(task, roles, clock, choices);
  attempts.run(attempt, blame);
  explainRefusals(engines, attempts.partition(), clock);
  if (!spec.weight_precision.empty()) {
    clock.run(Phase::kCalibration, [&] { roundWeights(engines, asked, calibrationRuns(task, *module), samples); });
    stitch(attempts.partition());
  } else if (spec.ptq_calibrator) {
    clock.run(Phase::kCalibration, [&] { quantizeEngines(engines, spec, calibrationRuns(task, *module), samples); });
    stitch(attempts.partition());
  }
  kernels.write();

  Report report = finishedReport(task, attempts.partition(), engines, kernels, clock);
  attachRecord(*module, report);
  if (kept) {
    keepRecipe(*module, *kept, asked, attempts.choices());
  }
  runtime::prepare(*module);
  watch.end();
  tell(report);
  return {std::move(*module), std::move(report)};
}

// The same list as far as one plan, for a whole method.
std::string buildEngine(const Source& original, const ts::CompileSpec& asked) {
  const PlainSettings settings;
  PhaseClock clock;
  const CompileWatch watch(asked.watcher, clock);
  ts::CompileSpec spec = keepingInputs(asked, original.module.get());
  spec.require_full_compilation = true;
  if (spec.refit) {
    TORCHTRT_LOG(kINFO, "option refit has no effect on an engine alone: compile the module to update its weights");
    spec.refit = false;
  }

  const DeviceTarget target = targetOf(spec, original.module.get());
  const Source source = clock.run(Phase::kChecking, [&] { return checked(original, spec, target); });
  const DataType precision = weightPrecision(spec);
  lowering::LoweringOptions lowering;
  lowering.precision = pinsFor(spec, source, precision);
  const lowering::LoweredGraph lowered =
      clock.run(Phase::kLowering, [&] { return lowerFor(target, source, lowering); });
  const InputLeaves leaves = clock.run(Phase::kChecking, [&] { return matchInputs(spec.graph_inputs, lowered); });
  const Task task{source, lowered, spec, precision, target};

  const partitioning::Roles roles(lowered.graph);
  KernelChoice kernels(spec, target, clock);
  SegmentEngines engines(lowered, roles, leaves, segmentOptions(task, kernels, clock), clock);
  Attempts attempts(task, roles, clock);
  std::unique_ptr<network::Network> whole;  // where there is no engine yet
  const bool rounds_weights = !spec.weight_precision.empty();
  if (spec.ptq_calibrator && !rounds_weights) {
    attempts.run([&](const Partition& partition) { return makeEngines(engines, partition); });
    const torch::jit::Module module = clock.run(
        Phase::kStitching, [&] { return moduleOf(task, attempts.partition(), engines.engines(), std::nullopt); });
    clock.run(Phase::kCalibration, [&] { quantizeEngines(engines, spec, calibrationRuns(task, module), {}); });
  } else {
    const std::string name = stitching::engineName(lowered.module_name, 0, 1);
    attempts.run([&](const Partition& partition) {
      Failures failures;
      whole = clock.run(Phase::kConversion,
                        [&] { return engines.wholeNetworkOf(partition.segments.front(), name, failures); });
      return failures;
    });
  }
  if (rounds_weights) {
    whole = clock.run(Phase::kCalibration, [&] { return withRoundedWeights(*whole, asked); });
  }
  plan::Plan plan = planOf(whole ? *whole : *engines.engines().front().network, task, kernels, clock);
  addBinaries(plan, target, clock);
  kernels.write();
  return plan::serialize(plan);
}

bool isSupported(const Source& source) {
  const PlainSettings settings;
  const lowering::LoweredGraph lowered = lower(inEvaluationMode(source));
  const partitioning::Roles roles(lowered.graph);
  partitioning::PartitioningOptions options;
  options.min_block_size = 1;
  options.inner = conversion::complexValues(*lowered.graph->block());
  bool supported = true;
  for (const partitioning::Verdict& verdict : partitionOf(lowered, roles, options).verdicts) {
    if (verdict.refusal && verdict.refusal->code != partitioning::kCarriedCode) {
      TORCHTRT_LOG(kWARNING, methodName(lowered) << " cannot be converted: " << partitioning::describe(*verdict.node)
                                                 << ": " << verdict.refusal->reason);
      supported = false;
    }
  }
  return supported;
}

}  // namespace torchtrt::compiler
