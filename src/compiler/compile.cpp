#include "compiler/compile.h"

#include <algorithm>
#include <optional>

#include "base/logging.h"
#include "builder/builder.h"
#include "compiler/calibration/calibration.h"
#include "compiler/checking/agreement.h"
#include "compiler/checks.h"
#include "compiler/compile_watch.h"
#include "compiler/inputs/impossible_inputs.h"
#include "compiler/inputs/input_specs.h"
#include "compiler/inputs/size_guesses.h"
#include "compiler/module/evaluation_mode.h"
#include "compiler/module/expected_calls.h"
#include "compiler/module/module_state.h"
#include "compiler/module/plain_settings.h"
#include "compiler/module/precision_pins.h"
#include "compiler/module/source.h"
#include "compiler/phase_clock.h"
#include "compiler/reports/segment_report.h"
#include "compiler/reports/text.h"
#include "compiler/segments/kept_segment.h"
#include "compiler/segments/kernel_choice.h"
#include "compiler/segments/segment_engines.h"
#include "conversion/conversion.h"
#include "lowering/call_stacks.h"
#include "lowering/graph_walk.h"
#include "lowering/lowering.h"
#include "partitioning/partitioning.h"
#include "runtime/engine_class.h"
#include "runtime/threads.h"
#include "stitching/stitching.h"
#include "torchtrt/prepare.h"

namespace torchtrt::compiler {

namespace {

using partitioning::Partition;

// What is compiled, and how.
struct Task {
  const Source& source;
  const lowering::LoweredGraph& lowered;  // of the source
  const ts::CompileSpec& spec;
  DataType precision;  // of weights, where they were cast
};

std::string methodName(const lowering::LoweredGraph& lowered) {
  return lowered.module_name + "." + lowered.schema.name();
}

// Whether tensors, one per argument from the first on, are what a call of the method takes.
bool areArguments(const std::vector<torch::jit::IValue>& tensors, const c10::FunctionSchema& schema) {
  const auto& arguments = schema.arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool fits = i < tensors.size() ? arguments[i].type()->kind() == c10::TypeKind::TensorType
                                         : arguments[i].default_value().has_value();
    if (!fits) {
      return false;
    }
  }
  return tensors.size() <= arguments.size();
}

// The arguments of one call, where the user gave them.
std::vector<torch::jit::IValue> samplesOf(const Task& task) {
  const auto& [source, lowered, spec, precision] = task;
  std::vector<torch::jit::IValue> samples = spec.sample_inputs;
  if (samples.empty() && spec.graph_inputs.input_signature.isNone()) {
    for (const Input& input : spec.graph_inputs.inputs) {
      if (!input.sample.defined()) {
        return {};
      }
      samples.emplace_back(input.sample);
    }
    if (!areArguments(samples, lowered.schema)) {
      return {};
    }
  }
  return asArguments(std::move(samples), lowered.schema, precision);
}

bool carriesMethods(const Source& source, const ts::CompileSpec& spec) {
  return !spec.require_full_compilation && hasOtherMethods(source, spec.keep_methods);
}

void check(const Source& source, const ts::CompileSpec& spec) {
  checkOptions(spec, source.module.get());
  if (source.module) {
    checkHooks(spec, *source.module, source.method);
  }
}

// What is compiled of it: with its weights cast, and a copy where the result shares them with engines.
Source checked(const Source& original, const ts::CompileSpec& spec) {
  check(original, spec);
  const Source cast = withPrecision(inEvaluationMode(original), spec);
  return carriesMethods(cast, spec) ? owned(cast) : cast;
}

// What another attempt has to know: what failed moves to PyTorch, and behind what shows its size late an engine ends.
void learn(const Failures& failures, partitioning::PartitioningOptions& options) {
  for (const auto& [node, refusal] : failures) {
    const bool ends_engine = refusal.code == conversion::kLateSize && node->blocks().empty();
    if (!ends_engine || !options.late.insert(node).second) {
      options.refused.emplace(node, refusal);
    }
  }
}

partitioning::PartitioningOptions partitioningOptions(const lowering::LoweredGraph& lowered,
                                                      const ts::CompileSpec& spec) {
  partitioning::PartitioningOptions options;
  options.user_choice = {{spec.torch_executed_ops.begin(), spec.torch_executed_ops.end()}, spec.torch_executed_modules};
  if (spec.min_block_size.isGiven()) {
    options.min_block_size = spec.min_block_size;
  }
  options.require_full_compilation = spec.require_full_compilation;
  options.what = methodName(lowered);
  options.inner = conversion::complexValues(*lowered.graph->block());
  lowering::forEachNode(lowered.graph->block(), [&](const torch::jit::Node* node) {
    if (conversion::hasLateSize(*node)) {
      options.late.insert(node);
    }
    if (lowered.computes_gradients) {
      options.refused.emplace(node, Refusal{"gradients", "the method computes gradients, and engines keep none"});
    }
  });
  return options;
}

Partition partitionOf(const lowering::LoweredGraph& lowered, const partitioning::Roles& roles,
                      const partitioning::PartitioningOptions& options) {
  const auto real_question = options.require_full_compilation ? conversion::refusalOfWhole : conversion::refusalOf;
  const auto question = [&](const torch::jit::Node& node) {
    auto refusal = conversion::refusalOfComplex(node, options.inner);
    return refusal ? refusal : real_question(node);
  };
  Partition partition = partitioning::partition(lowered.graph, roles, question, options);
  TORCHTRT_LOG(kGRAPH, "partition of " << options.what << "\n" << partitioning::print(partition));
  return partition;
}

plan::Plan planOf(const network::Network& network, KernelChoice& kernels) {
  TORCHTRT_LOG(kGRAPH, "network\n" << network::print(network));
  plan::Plan plan = builder::build(network);
  kernels.choose(plan);
  return plan;
}

SegmentOptions segmentOptions(const Task& task, KernelChoice& kernels,
                              const std::optional<OtherCalls>& others = std::nullopt) {
  const auto& [source, lowered, spec, precision] = task;
  SegmentOptions options;
  options.precision = precision;
  options.may_fall_back = !spec.require_full_compilation;
  options.samples = samplesOf(task);
  options.keep_networks = spec.ptq_calibrator != nullptr;
  options.rewriters = spec.rewriters;
  options.other_constants = others ? others->constants : std::vector<at::Tensor>();
  options.self = source.module ? c10::IValue(source.module->_ivalue()) : c10::IValue();
  // A source of our own may share its weights with engines.
  options.shares_constants = carriesMethods(source, spec);
  options.plan_of = [&kernels](const network::Network& network) { return planOf(network, kernels); };
  return options;
}

std::vector<c10::intrusive_ptr<runtime::Engine>> holdersOf(const std::vector<SegmentEngine>& engines) {
  std::vector<c10::intrusive_ptr<runtime::Engine>> holders;
  for (const SegmentEngine& engine : engines) {
    holders.push_back(engine.engine);
  }
  return holders;
}

// The stitched module, which shares nothing with the user's.
torch::jit::Module moduleOf(const Task& task, const Partition& partition, const std::vector<SegmentEngine>& made,
                            const std::optional<OtherCalls>& others) {
  const auto& [source, lowered, spec, precision] = task;
  const std::vector<c10::intrusive_ptr<runtime::Engine>> engines = holdersOf(made);
  stitching::StitchOptions options{lowered.module_name, lowered.schema.name(), lowered.schema};
  const bool shares_constants = carriesMethods(source, spec);
  if (!spec.require_full_compilation) {
    options.original = lowered.has_self && !shares_constants ? owned(source).module : source.module;
  }
  if (shares_constants) {
    for (const auto& engine : engines) {
      shareStorage(*source.module, engine->weights());
    }
  }
  options.keep_methods = spec.keep_methods;
  if (others) {
    options.other_calls = withEngines(*others, made);
  }
  torch::jit::Module module = stitching::stitch(partition, engines, options);
  if (!shares_constants) {
    ownConstants(*module.get_method(source.method).graph()->block());
  }
  for (const torch::jit::Method& method : module.get_methods()) {
    lowering::ownCallStacks(*method.graph()->block());
  }
  return module;
}

CalibrationRuns calibrationRuns(const Task& task, const torch::jit::Module& module) {
  const auto& [source, lowered, spec, precision] = task;
  const bool is_flat = spec.graph_inputs.input_signature.isNone();
  const size_t arguments = lowered.schema.arguments().size();
  return {.module = module,
          .method = source.method,
          .schema = lowered.schema,
          .arguments = is_flat ? std::min(arguments, spec.graph_inputs.inputs.size()) : arguments,
          .precision = precision,
          .has_state = lowered.has_self};
}

// Of samples through the module, after a call where calls leave a state.
CalibrationRuns tuningRuns(const Task& task, const partitioning::Roles& roles, const torch::jit::Module& module) {
  CalibrationRuns runs = calibrationRuns(task, module);
  runs.earlier_calls = callsLeaveState(task.lowered, roles) ? 1 : 0;
  return runs;
}

// What is slower in an engine than in PyTorch, on what reaches the engines that the samples come through.
Failures slowerEngines(SegmentEngines& engines, const CalibrationRuns& runs,
                       const std::vector<torch::jit::IValue>& samples) {
  Failures failures;
  runOnce(runs, samples, [&](const runtime::Engine& engine, const std::vector<at::Tensor>& inputs) {
    failures.merge(engines.timed(engine, inputs));
  });
  return failures;
}

// Without times of this compile: the same module and timing cache give the same bytes.
void attachRecord(torch::jit::Module& module, Report report) {
  report.phases.clear();
  report.share_of_time.reset();
  for (Report::Segment& segment : report.segments) {
    segment.milliseconds = 0;
    for (Report::Timing& timing : segment.timings) {
      timing.is_cached = true;  // who reads the record has it from there
    }
  }
  stitching::attachRecord(module, report.toText(), report.toJson());
}

// One line after every compile; where more is to be told, the whole report.
void tell(const Report& report) {
  if (logging::getReportableLevel() >= logging::kINFO) {
    TORCHTRT_LOG(kINFO, report.toText());
  } else {
    torchtrt::tell(report.summary());
  }
}

}  // namespace

Compiled compile(const Source& original, const ts::CompileSpec& asked) {
  if (runtime::waitsForLostTeam()) {
    throw CompileError(
        ErrorCode::kBuildFailed,
        "this process is a fork of one that had used PyTorch's threads, for which compiling would wait", {},
        "compile before the fork, or in a process of its own (spawn), or after torch.set_num_threads(1)");
  }
  const PlainSettings settings;
  PhaseClock clock;
  CompileWatch watch(asked.watcher, clock);
  const ts::CompileSpec spec = keepingInputs(asked, original.module.get());
  const DataType precision = weightPrecision(spec);
  const Source source = clock.run(Phase::kChecking, [&] { return checked(original, spec); });
  lowering::LoweredGraph lowered = clock.run(Phase::kLowering, [&] {
    return lower(source, /*keep_state=*/!spec.require_full_compilation, pinsFor(spec, source, precision));
  });
  const InputLeaves leaves = clock.run(Phase::kChecking, [&] { return matchInputs(spec.graph_inputs, lowered); });
  const auto others = clock.run(Phase::kLowering, [&] { return expectCalls(lowered, leaves, spec); });
  const Task task{source, lowered, spec, precision};
  const partitioning::Roles roles(lowered.graph);
  partitioning::PartitioningOptions options = partitioningOptions(lowered, spec);
  KernelChoice kernels(spec, clock);
  SegmentEngines engines(lowered, roles, leaves, segmentOptions(task, kernels, others), clock);
  const std::vector<torch::jit::IValue> samples = samplesOf(task);
  checkSamples(spec, samples, lowered.schema);
  Partition partition;
  std::optional<torch::jit::Module> module;
  const auto stitch = [&] { return moduleOf(task, partition, engines.engines(), others); };
  const auto attempt = [&](partitioning::PartitioningOptions tried) -> std::optional<std::string> {
    Failures failures;
    do {  // what fails moves to PyTorch, and the rest is partitioned anew
      learn(failures, tried);
      partition = clock.run(Phase::kPartitioning, [&] { return partitionOf(lowered, roles, tried); });
      failures = engines.run(partition);  // conversion, building, loading
      if (!failures.empty()) {
        continue;
      }
      module = clock.run(Phase::kStitching, stitch);
      if (auto difference =
              clock.run(Phase::kValidation, [&] { return disagreement(source, *module, lowered, samples); })) {
        return difference;
      }
      if (spec.tune && !spec.require_full_compilation) {
        const CalibrationRuns runs = tuningRuns(task, roles, *module);
        failures = clock.run(Phase::kTuning, [&] { return slowerEngines(engines, runs, samples); });
      }
    } while (!failures.empty());
    return std::nullopt;
  };
  while (const auto difference = attempt(options)) {
    if (isStrict() || spec.require_full_compilation || engines.engines().empty()) {
      rejectDisagreement(*difference);
    }
    // A module of one engine was compared as a whole only: its segment tells which node is to blame.
    Failures blamed;
    if (partition.segments.size() == 1) {
      blamed = clock.run(Phase::kValidation, [&] { return engines.validate(partition); });
      learn(blamed, options);
    }
    if (blamed.empty()) {
      refuseFirstThatDisagrees(partition, *difference, options, attempt);
    }
  }
  if (hasMisfits(partition)) {
    rejectImpossibleInputs(partition, *clock.run(Phase::kConversion, [&] { return &engines.observe(); }));
  }
  if (const partitioning::Observations* observations = engines.observations()) {
    nameCauses(partition, *observations);
  }
  if (spec.ptq_calibrator) {
    clock.run(Phase::kCalibration, [&] { quantizeEngines(engines, spec, calibrationRuns(task, *module), samples); });
    module = clock.run(Phase::kStitching, stitch);
  }
  kernels.write();
  Report report = reportOf(methodName(lowered), partition, engines.engines(), clock);
  kernels.addTo(report);
  report.share_of_time = shareOfTime(partition, engines.seconds());
  report.precision = pinsOf(spec, lowered);
  addGuesses(engines.leaves(), report);
  for (const SegmentEngine& engine : engines.engines()) {
    tellOfOnlySizes(engine.only_sizes, engines.leaves(), report.module);
  }
  attachRecord(*module, report);
  runtime::prepare(*module);
  watch.end();
  tell(report);
  return {std::move(*module), std::move(report)};
}

std::string buildEngine(const Source& original, const ts::CompileSpec& asked) {
  const PlainSettings settings;
  PhaseClock clock;
  const CompileWatch watch(asked.watcher, clock);
  ts::CompileSpec spec = keepingInputs(asked, original.module.get());
  spec.require_full_compilation = true;
  check(original, spec);
  const DataType precision = weightPrecision(spec);
  const Source source = withPrecision(inEvaluationMode(original), spec);
  const lowering::LoweredGraph lowered = lower(source, /*keep_state=*/false, pinsFor(spec, source, precision));
  const InputLeaves leaves = matchInputs(spec.graph_inputs, lowered);
  const partitioning::Roles roles(lowered.graph);
  partitioning::PartitioningOptions options = partitioningOptions(lowered, spec);
  KernelChoice kernels(spec, clock);
  const Task task{source, lowered, spec, precision};
  SegmentEngines engines(lowered, roles, leaves, segmentOptions(task, kernels), clock);
  Partition partition;
  Failures failures;
  if (spec.ptq_calibrator) {
    do {
      learn(failures, options);
      partition = partitionOf(lowered, roles, options);
      failures = engines.run(partition);
    } while (!failures.empty());
    const torch::jit::Module module = moduleOf(task, partition, engines.engines(), std::nullopt);
    quantizeEngines(engines, spec, calibrationRuns(task, module), {});
    const plan::Plan plan = planOf(*engines.engines().front().network, kernels);
    kernels.write();
    return plan::serialize(plan);
  }
  const std::string name = stitching::engineName(lowered.module_name, 0, 1);
  std::unique_ptr<network::Network> network;
  for (; !network; learn(failures, options)) {
    partition = partitionOf(lowered, roles, options);
    network = engines.wholeNetworkOf(partition.segments.front(), name, failures);
  }
  const plan::Plan plan = planOf(*network, kernels);
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
