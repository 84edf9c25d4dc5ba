#include "compiler/reports/segment_report.h"

#include <algorithm>
#include <unordered_map>

#include "conversion/conversion.h"
#include "lowering/source_files.h"

namespace torchtrt::compiler {

using partitioning::Partition;
using partitioning::Segment;
using partitioning::Target;
using partitioning::Verdict;

namespace {

constexpr const char* kEngine = "engine";
constexpr const char* kTorch = "torch";

std::string describe(const engine::BindingInfo& binding) {
  std::string dims;
  for (const std::string& dim : binding.dims) {
    dims += (dims.empty() ? "" : ", ") + dim;
  }
  return binding.name + ": " + toString(binding.dtype) + " [" + dims + "]";
}

std::string describe(const torch::jit::Value& value) {
  return "%" + value.debugName() + ": " + value.type()->annotation_str();
}

class Reporter {
 public:
  Reporter(const Partition& partition, const std::vector<SegmentEngine>& engines, Report& report)
      : engines_(engines), report_(report) {
    for (const Verdict& verdict : partition.verdicts) {
      verdicts_[verdict.node] = &verdict;
    }
    add(partition.segments, "");
  }

 private:
  void add(const std::vector<Segment>& segments, const std::string& outer) {
    for (size_t i = 0; i < segments.size(); ++i) {
      const std::string index = outer + std::to_string(i);
      report_.segments.push_back(entryOf(segments[i], index));
      for (size_t block = 0; block < segments[i].blocks.size(); ++block) {
        add(segments[i].blocks[block], index + "." + std::to_string(block) + ".");
      }
    }
  }

  Report::Segment entryOf(const Segment& segment, const std::string& index) const {
    Report::Segment entry;
    entry.index = index;
    entry.target = segment.target == Target::kEngine ? kEngine : kTorch;
    for (const torch::jit::Node* node : segment.nodes) {
      entry.nodes.push_back(compiler::describe(*node));
      const Verdict& verdict = *verdicts_.at(node);
      const std::string reason = verdict.refusal ? verdict.refusal->reason : "";
      if (!reason.empty() && std::find(entry.reasons.begin(), entry.reasons.end(), reason) == entry.reasons.end()) {
        entry.reasons.push_back(reason);
      }
    }
    const auto made = std::find_if(engines_.begin(), engines_.end(),
                                   [&](const SegmentEngine& engine) { return engine.segment == &segment; });
    if (made == engines_.end()) {
      addValues(segment, entry);
    } else {
      addEngine(*made, entry);
    }
    return entry;
  }

  static void addValues(const Segment& segment, Report::Segment& entry) {
    for (const torch::jit::Value* input : segment.inputs) {
      entry.inputs.push_back(describe(*input));
    }
    for (const torch::jit::Value* output : segment.outputs) {
      entry.outputs.push_back(describe(*output));
    }
  }

  static void addEngine(const SegmentEngine& made, Report::Segment& entry) {
    const engine::Engine& engine = made.engine->engine();
    entry.name = made.name;
    entry.milliseconds = made.milliseconds;
    entry.memory_bytes = engine.memoryBytes();
    for (const engine::BindingInfo& input : engine.inputs()) {
      entry.inputs.push_back(describe(input));
    }
    for (const engine::BindingInfo& output : engine.outputs()) {
      entry.outputs.push_back(describe(output));
    }
    for (const plan::Step& step : made.steps) {
      entry.steps.push_back({step.name, step.family, toString(step.location)});
    }
    entry.calibration = made.calibration;
  }

  const std::vector<SegmentEngine>& engines_;
  Report& report_;
  std::unordered_map<const torch::jit::Node*, const Verdict*> verdicts_;
};

void addSourceLine(const torch::jit::Node& node, Report& report) {
  constexpr size_t kLongest = 200;
  const auto original = node.sourceRange().findSourceRangeThatGenerated();
  const torch::jit::SourceRange range = original ? *original : node.sourceRange();
  const auto place = range.file_line_col();
  if (!place || range.source() == nullptr) {
    return;
  }
  std::string& line =
      report.source_lines[lowering::shownFile(std::get<0>(*place)) + ":" + std::to_string(std::get<1>(*place))];
  if (line.empty()) {
    line = range.source()->get_line(range.source()->lineno_for_offset(range.start())).str();
    const size_t first = line.find_first_not_of(" \t");
    line = first == std::string::npos ? "" : line.substr(first, line.find_last_not_of(" \t\r\n") + 1 - first);
    line = beginning(line, kLongest);
  }
}

}  // namespace

std::string describe(const torch::jit::Node& node) {
  const Location location = conversion::util::locationOf(node);
  const std::string where = toString(location);
  return std::string(node.kind().toQualString()) + (where.empty() ? "" : " # " + where);
}

std::optional<double> shareOfTime(const Partition& partition,
                                  const std::unordered_map<const torch::jit::Node*, double>& seconds) {
  double all = 0;
  double in_engines = 0;
  for (const Verdict& verdict : partition.verdicts) {
    const auto found = seconds.find(verdict.node);
    const double taken = found == seconds.end() ? 0 : found->second;
    all += taken;
    in_engines += verdict.target == Target::kEngine ? taken : 0;
  }
  return all > 0 ? std::optional(in_engines / all) : std::nullopt;
}

Report reportOf(const std::string& what, const Partition& partition, const std::vector<SegmentEngine>& engines,
                const PhaseClock& clock) {
  Report report;
  report.module = what;
  report.phases = clock.phases();
  for (const Verdict& verdict : partition.verdicts) {
    addSourceLine(*verdict.node, report);
    report.nodes.push_back({describe(*verdict.node), verdict.target == Target::kEngine ? kEngine : kTorch,
                            verdict.refusal ? verdict.refusal->code : "converts",
                            verdict.refusal ? verdict.refusal->reason : "converts"});
  }
  Reporter(partition, engines, report);
  return report;
}

}  // namespace torchtrt::compiler
