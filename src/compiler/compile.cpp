#include "compiler/compile.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "base/logging.h"
#include "builder/builder.h"
#include "compiler/checks.h"
#include "compiler/dtype_inference.h"
#include "compiler/input_specs.h"
#include "compiler/phases.h"
#include "compiler/source.h"
#include "compiler/validation.h"
#include "conversion/conversion.h"
#include "lowering/lowering.h"
#include "partitioning/partitioning.h"
#include "runtime/dtypes.h"
#include "runtime/engine_class.h"
#include "stitching/stitching.h"

namespace torchtrt::compiler {

namespace {

using partitioning::Partition;
using partitioning::Segment;
using partitioning::Target;

// Runs phases and keeps their times; a phase that runs once per segment adds up.
class PhaseClock {
 public:
  template <typename Body>
  auto run(Phase phase, Body&& body) {
    const auto start = std::chrono::steady_clock::now();
    struct Stop {
      PhaseClock& clock;
      Phase phase;
      std::chrono::steady_clock::time_point start;
      ~Stop() {
        clock.add(phase, std::chrono::steady_clock::now() - start);
      }
    } stop{*this, phase, start};
    TORCHTRT_LOG(kDEBUG, "phase " << phaseInfo(phase).name << ": " << phaseInfo(phase).meaning);
    return body();
  }

  std::vector<Report::Phase> phases() const {
    std::vector<Report::Phase> result;
    for (const PhaseInfo& info : kPhases) {
      result.push_back({info.name, milliseconds_[static_cast<size_t>(info.phase)]});
    }
    return result;
  }

  double total() const {
    double sum = 0;
    for (const double milliseconds : milliseconds_) {
      sum += milliseconds;
    }
    return sum;
  }

 private:
  void add(Phase phase, std::chrono::duration<double, std::milli> elapsed) {
    milliseconds_[static_cast<size_t>(phase)] += elapsed.count();
  }

  std::array<double, kPhases.size()> milliseconds_{};
};

std::string methodName(const lowering::LoweredGraph& lowered) {
  return lowered.module_name + "." + lowered.schema.name();
}

Partition partitionOf(const lowering::LoweredGraph& lowered, const ts::CompileSpec& spec) {
  partitioning::PartitioningOptions options;
  options.torch_executed_ops = {spec.torch_executed_ops.begin(), spec.torch_executed_ops.end()};
  options.what = methodName(lowered);
  Partition partition = partitioning::partition(lowered.graph, conversion::refusalOf, options);
  TORCHTRT_LOG(kGRAPH, "partition of " << options.what << "\n" << partitioning::print(partition));
  return partition;
}

std::vector<const Segment*> engineSegments(const Partition& partition) {
  std::vector<const Segment*> segments;
  for (const Segment& segment : partition.segments) {
    if (segment.target == Target::kEngine) {
      segments.push_back(&segment);
    }
  }
  return segments;
}

std::unique_ptr<network::Network> networkOf(const Segment& segment, const std::string& name, const InputLeaves& leaves,
                                            DataType precision,
                                            const std::vector<rewriting::NetworkRewriter>& rewriters) {
  conversion::ConversionRequest request;
  request.name = name;
  describeInputs(leaves, segment, precision, request);
  auto network = conversion::convert(*segment.graph->block(), request);
  rewriting::applyRewriters(network, rewriters);
  return network;
}

plan::Plan planOf(std::unique_ptr<network::Network> network, const Source& source) {
  TORCHTRT_LOG(kGRAPH, "network\n" << network::print(*network));
  plan::Plan plan = builder::build(*network);
  network.reset();
  ownWeights(plan, source);
  return plan;
}

std::string describe(const torch::jit::Node& node) {
  std::string text = node.kind().toQualString();
  if (const auto place = node.sourceRange().file_line_col()) {
    const auto& [file, line, column] = *place;
    text += c10::str(" # ", file, ":", line, ":", column);
  }
  return text;
}

void reportPartition(const Partition& partition, Report& report) {
  for (const partitioning::Verdict& verdict : partition.verdicts) {
    report.nodes.push_back({describe(*verdict.node), partitioning::toString(verdict.target),
                            verdict.refusal ? verdict.refusal->reason : "converts"});
  }
  for (const Segment& segment : partition.segments) {
    int nodes = 0;
    for (const torch::jit::Node* node : segment.graph->nodes()) {
      nodes += node->kind() == torch::jit::prim::Constant ? 0 : 1;
    }
    Report::Segment entry;
    entry.target = partitioning::toString(segment.target);
    entry.reason = segment.reason;
    entry.nodes = nodes;
    report.segments.push_back(std::move(entry));
  }
}

void reportPlan(const plan::Plan& plan, Report::Segment& segment) {
  segment.name = plan.name;
  for (const plan::Step& step : plan.steps) {
    segment.steps.push_back({step.name, step.family, toString(step.location)});
  }
}

std::vector<torch::jit::IValue> samplesOf(const ts::CompileSpec& spec, DataType precision) {
  std::vector<torch::jit::IValue> samples = spec.sample_inputs;
  if (samples.empty() && spec.graph_inputs.input_signature.isNone()) {
    for (const Input& input : spec.graph_inputs.inputs) {
      if (!input.sample.defined()) {
        return {};
      }
      samples.emplace_back(input.sample);
    }
  }
  if (precision != DataType::kUnknown) {
    for (torch::jit::IValue& sample : samples) {
      if (sample.isTensor() && sample.toTensor().is_floating_point()) {
        sample = sample.toTensor().to(runtime::scalarTypeOf(dtypeOf(precision)));
      }
    }
  }
  return samples;
}

bool isStrict() {
  const char* value = std::getenv("TORCHTRT_STRICT");
  return value != nullptr && std::string_view(value) == "1";
}

// Wrong results are never handed out: with nothing to fall back to, a disagreement ends the compile.
void validate(const Source& source, torch::jit::Module& module, const std::vector<torch::jit::IValue>& samples) {
  if (samples.empty()) {
    return;
  }
  const torch::jit::IValue expected = run(source, samples);
  const torch::jit::IValue got = module.forward(samples);
  const std::optional<std::string> difference = firstDifference(expected, got);
  if (!difference) {
    return;
  }
  const std::string message = "the engine disagrees with PyTorch on the sample inputs: " + *difference;
  if (isStrict()) {
    throw InternalError(message);
  }
  throw CompileError(
      ErrorCode::kConversionFailed, message, {},
      "this is a bug of torchtrt: please report the module; to leave the check out, give shapes and no tensors");
}

}  // namespace

Compiled compile(const Source& original, const ts::CompileSpec& spec) {
  PhaseClock clock;
  Report report;
  const DataType precision = weightPrecision(spec);
  const Source source = clock.run(Phase::kChecking, [&] {
    checkOptions(spec, original.module.get());
    return withPrecision(original, precision);
  });
  const lowering::LoweredGraph lowered = clock.run(Phase::kLowering, [&] { return lower(source); });
  const InputLeaves leaves = clock.run(Phase::kChecking, [&] { return matchInputs(spec.graph_inputs, lowered); });
  const Partition partition = clock.run(Phase::kPartitioning, [&] { return partitionOf(lowered, spec); });
  report.module = methodName(lowered);
  reportPartition(partition, report);

  const std::vector<const Segment*> segments = engineSegments(partition);
  std::vector<c10::intrusive_ptr<runtime::Engine>> engines;
  for (size_t i = 0; i < segments.size(); ++i) {
    const double before = clock.total();
    const std::string name = stitching::engineName(lowered.module_name, i, segments.size());
    auto network =
        clock.run(Phase::kConversion, [&] { return networkOf(*segments[i], name, leaves, precision, spec.rewriters); });
    const plan::Plan plan = clock.run(Phase::kBuilding, [&] { return planOf(std::move(network), source); });
    engines.push_back(clock.run(Phase::kLoading, [&] { return runtime::Engine::fromPlan(plan); }));
    Report::Segment& entry = report.segments[static_cast<size_t>(segments[i] - partition.segments.data())];
    reportPlan(plan, entry);
    entry.memory_bytes = engines.back()->engine().memoryBytes();
    entry.milliseconds = clock.total() - before;
  }

  torch::jit::Module module = clock.run(Phase::kStitching, [&] {
    return stitching::stitch(partition, engines, {lowered.module_name, lowered.schema.name(), lowered.schema});
  });
  clock.run(Phase::kValidation, [&] { validate(source, module, samplesOf(spec, precision)); });
  report.phases = clock.phases();
  TORCHTRT_LOG(kINFO, report.toText());
  return {std::move(module), std::move(report)};
}

std::string buildEngine(const Source& original, const ts::CompileSpec& spec) {
  checkOptions(spec, original.module.get());
  const DataType precision = weightPrecision(spec);
  const Source source = withPrecision(original, precision);
  const lowering::LoweredGraph lowered = lower(source);
  const InputLeaves leaves = matchInputs(spec.graph_inputs, lowered);
  const Partition partition = partitionOf(lowered, spec);
  const std::vector<const Segment*> segments = engineSegments(partition);
  const std::string name = stitching::engineName(lowered.module_name, 0, segments.size());
  return plan::serialize(planOf(networkOf(*segments.front(), name, leaves, precision, spec.rewriters), source));
}

bool isSupported(const Source& source) {
  const lowering::LoweredGraph lowered = lower(source);
  bool supported = true;
  for (const partitioning::Verdict& verdict : partitioning::judge(*lowered.graph, conversion::refusalOf)) {
    const bool stays = verdict.refusal && verdict.refusal->code == partitioning::kCollectionCode;
    if (verdict.refusal && !stays) {
      TORCHTRT_LOG(kWARNING, methodName(lowered) << " cannot be converted: " << describe(*verdict.node) << ": "
                                                 << verdict.refusal->reason);
      supported = false;
    }
  }
  return supported;
}

}  // namespace torchtrt::compiler
