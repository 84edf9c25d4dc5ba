// The two forms of torchtrt::Report.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>
#include <sstream>

#include "compiler/reports/summary.h"
#include "compiler/reports/text.h"
#include "torchtrt/compile.h"

namespace torchtrt {

namespace {

// "3 convolution, 2 pooling", by name.
std::string families(const std::vector<Report::Step>& steps) {
  std::map<std::string, int> counts;
  for (const Report::Step& step : steps) {
    ++counts[step.family];
  }
  std::string text;
  for (const auto& [family, count] : counts) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + family;
  }
  return text;
}

std::string jsonList(const std::vector<std::string>& texts) {
  return list(texts, quoted);
}

std::string jsonObject(const std::map<std::string, std::string>& texts) {
  std::string text = "{";
  for (const auto& [key, value] : texts) {
    text += (text.size() > 1 ? ", " : "") + quoted(key) + ": " + quoted(value);
  }
  return text + "}";
}

std::string join(const std::vector<std::string>& texts, const char* between) {
  std::string joined;
  for (const std::string& text : texts) {
    joined += (joined.empty() ? "" : between) + text;
  }
  return joined;
}

std::string json(const Report::Step& step) {
  return "{\"name\": " + quoted(step.name) + ", \"family\": " + quoted(step.family) +
         ", \"location\": " + quoted(step.location) + "}";
}

// An error that was not measured is null, and so is one beyond all numbers, which JSON has no word for.
std::string jsonError(double error) {
  return error < 0 || !std::isfinite(error) ? "null" : brief(error);
}

std::string json(const Report::Layer& layer) {
  return "{\"name\": " + quoted(layer.name) + ", \"kind\": " + quoted(layer.kind) +
         ", \"location\": " + quoted(layer.location) +
         ", \"is_quantized\": " + (layer.is_quantized ? "true" : "false") + ", \"reason\": " + quoted(layer.reason) +
         ", \"error\": " + jsonError(layer.error) + "}";
}

std::string json(const std::optional<Report::Calibration>& calibration) {
  if (!calibration) {
    return "null";
  }
  return "{\"precision\": " + quoted(calibration->precision) + ", \"calls\": " + std::to_string(calibration->calls) +
         ", \"is_cached\": " + (calibration->is_cached ? "true" : "false") +
         ", \"reason\": " + quoted(calibration->reason) + ", \"error\": " + jsonError(calibration->error) +
         ", \"layers\": " + list(calibration->layers, [](const Report::Layer& layer) { return json(layer); }) + "}";
}

std::string json(const Report::Timing& timing) {
  return "{\"step\": " + quoted(timing.step) + ", \"family\": " + quoted(timing.family) +
         ", \"implementation\": " + quoted(timing.implementation) + ", \"by_rule\": " + quoted(timing.by_rule) +
         ", \"microseconds\": " + number(timing.microseconds) +
         ", \"by_rule_microseconds\": " + number(timing.by_rule_microseconds) +
         ", \"is_cached\": " + (timing.is_cached ? "true" : "false") + "}";
}

std::string json(const Report::Segment& segment) {
  return "{\"index\": " + quoted(segment.index) + ", \"name\": " + quoted(segment.name) +
         ", \"target\": " + quoted(segment.target) + ", \"nodes\": " + jsonList(segment.nodes) +
         ", \"reasons\": " + jsonList(segment.reasons) + ", \"inputs\": " + jsonList(segment.inputs) +
         ", \"outputs\": " + jsonList(segment.outputs) + ", \"milliseconds\": " + number(segment.milliseconds) +
         ", \"memory_bytes\": " + std::to_string(segment.memory_bytes) +
         ", \"steps\": " + list(segment.steps, [](const Report::Step& step) { return json(step); }) +
         ", \"timings\": " + list(segment.timings, [](const Report::Timing& timing) { return json(timing); }) +
         ", \"invariant\": " + list(segment.invariant, [](const Report::Timing& timing) { return json(timing); }) +
         ", \"calibration\": " + json(segment.calibration) + "}";
}

std::string json(const Report::Node& node) {
  return "{\"node\": " + quoted(node.node) + ", \"target\": " + quoted(node.target) +
         ", \"code\": " + quoted(node.code) + ", \"reason\": " + quoted(node.reason) + "}";
}

// "aten::relu # a/site-packages/net.py:3:4": what, and where; installed packages are known by their own names.
struct Described {
  std::string what;
  std::string where;
};

Described taken(const std::string& node) {
  const size_t mark = node.find(" # ");
  if (mark == std::string::npos) {
    return {node, ""};
  }
  return {node.substr(0, mark), withoutPackageFolder(node.substr(mark + 3))};
}

// Adds the nodes in columns, and counts nodes that come several times in a row.
void addNodes(std::ostream& out, const std::vector<std::string>& nodes, const std::string& indent) {
  constexpr size_t kWidest = 32;
  size_t width = 0;
  for (const std::string& node : nodes) {
    width = std::max(width, std::min(taken(node).what.size(), kWidest));
  }
  for (size_t i = 0, count = 1; i < nodes.size(); i += count, count = 1) {
    while (i + count < nodes.size() && nodes[i + count] == nodes[i]) {
      ++count;
    }
    const Described node = taken(nodes[i]);
    std::string line = node.what;
    if (!node.where.empty()) {
      line.resize(std::max(line.size(), width), ' ');
      line += "  " + node.where;
    }
    out << indent << "node     " << line << (count > 1 ? "  (" + std::to_string(count) + " times)" : "") << "\n";
  }
}

// "off by 0.0123", or nothing where that was not measured.
std::string offBy(double error, const std::string& before) {
  return error < 0 ? "" : before + "off by " + brief(error);
}

void addCalibration(std::ostream& out, const Report::Calibration& calibration, const std::string& indent) {
  const bool has_ranges = calibration.precision == "int8";
  out << indent << (has_ranges ? "int8     " : "weights  ") << calibration.quantizedLayers() << " of "
      << counted(calibration.layers.size(), "layer");
  if (has_ranges) {
    out << (calibration.is_cached ? ", ranges from the cache" : ", ranges from " + counted(calibration.calls, "call"));
  } else {
    out << " with " << calibration.precision;
  }
  out << offBy(calibration.error, ", ") << (calibration.reason.empty() ? "" : "; " + calibration.reason) << "\n";
  for (const Report::Layer& layer : calibration.layers) {
    out << indent << "layer    " << layer.name << " (" << layer.kind << ")"
        << (layer.location.empty() ? "" : "  " + withoutPackageFolder(layer.location))
        << (layer.is_quantized ? ": " + calibration.precision : ": float, " + layer.reason)
        << offBy(layer.error, "; alone in " + calibration.precision + " ") << "\n";
  }
}

// Lists the steps that do not run by rule, with the time saved, and counts the rest.
void addTimings(std::ostream& out, const std::vector<Report::Timing>& timings, const std::string& indent) {
  const auto is_other = [](const Report::Timing& timing) { return timing.implementation != timing.by_rule; };
  const auto is_cached = [](const Report::Timing& timing) { return timing.is_cached; };
  out << indent << "timed    " << counted(timings.size(), "step") << ", "
      << std::count_if(timings.begin(), timings.end(), is_cached) << " of them before; "
      << std::count_if(timings.begin(), timings.end(), is_other) << " not by rule\n";
  for (const Report::Timing& timing : timings) {
    if (is_other(timing)) {
      out << indent << "faster   " << timing.step << " (" << timing.family << "): " << timing.implementation << " "
          << timing.microseconds << " us, by rule " << timing.by_rule << " " << timing.by_rule_microseconds << " us\n";
    }
  }
}

// Lists the steps that batch_invariant runs otherwise, with what that costs.
void addInvariant(std::ostream& out, const std::vector<Report::Timing>& steps, const std::string& indent) {
  double all = 0, all_by_rule = 0;
  for (const Report::Timing& step : steps) {
    all += step.microseconds;
    all_by_rule += step.by_rule_microseconds;
  }
  out << indent << "invariant " << counted(steps.size(), "step")
      << " by other kernels, for the same bits in every batch: ";
  if (all > 0) {
    out << all << " us instead of " << all_by_rule << " us at the optimum sizes\n";
  } else {
    out << "not timed, tune=True does\n";
  }
  for (const Report::Timing& step : steps) {
    out << indent << "  " << step.step << " (" << step.family << "): " << step.implementation;
    if (step.microseconds > 0) {
      out << " " << step.microseconds << " us";
    }
    out << " instead of " << step.by_rule;
    if (step.by_rule_microseconds > 0) {
      out << " " << step.by_rule_microseconds << " us";
    }
    out << "\n";
  }
}

// Segments inside of branches and loops stand under them, a step to the right.
void addText(std::ostream& out, const Report::Segment& segment) {
  const auto dots = static_cast<size_t>(std::count(segment.index.begin(), segment.index.end(), '.'));
  const std::string outer(dots, ' ');
  const std::string indent = outer + "  ";
  out << outer << "segment " << segment.index << ": " << (segment.target == "torch" ? "PyTorch" : segment.target)
      << ", " << counted(segment.nodes.size(), "node") << "\n";
  const auto lines = [&](const char* title, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      out << indent << std::left << std::setw(9) << title << std::right << text << "\n";
    }
  };
  lines("input", segment.inputs);
  lines("output", segment.outputs);
  addNodes(out, segment.nodes, indent);
  lines("because", segment.reasons);
  if (!segment.name.empty()) {
    out << indent << "engine   " << segment.name << ": " << segment.memory_bytes << " bytes of weights, "
        << counted(segment.steps.size(), "step") << ": " << families(segment.steps);
    if (segment.milliseconds > 0) {
      out << "; made in " << segment.milliseconds << " ms";
    }
    out << "\n";
  }
  if (!segment.timings.empty()) {
    addTimings(out, segment.timings, indent);
  }
  if (!segment.invariant.empty()) {
    addInvariant(out, segment.invariant, indent);
  }
  if (segment.calibration) {
    addCalibration(out, *segment.calibration, indent);
  }
}

int segmentsFor(const Report& report, const char* target) {
  return static_cast<int>(std::count_if(report.segments.begin(), report.segments.end(),
                                        [&](const Report::Segment& segment) { return segment.target == target; }));
}

}  // namespace

size_t Report::Calibration::quantizedLayers() const {
  return static_cast<size_t>(
      std::count_if(layers.begin(), layers.end(), [](const Layer& layer) { return layer.is_quantized; }));
}

double Report::milliseconds() const {
  double sum = 0;
  for (const Phase& phase : phases) {
    sum += phase.milliseconds;
  }
  return sum;
}

int Report::engineSegments() const {
  return segmentsFor(*this, "engine");
}

int Report::torchSegments() const {
  return segmentsFor(*this, "torch");
}

double Report::shareInEngines() const {
  const auto total = std::count_if(nodes.begin(), nodes.end(), compiler::works);
  const auto inside = std::count_if(nodes.begin(), nodes.end(),
                                    [](const Node& node) { return compiler::works(node) && node.target == "engine"; });
  return total == 0 ? 0 : static_cast<double>(inside) / static_cast<double>(total);
}

std::string Report::summary() const {
  const compiler::SummaryParts parts = compiler::summaryOf(*this);
  return parts.module + ": " + (parts.share_of_time.empty() ? "" : parts.share_of_time + "; ") + parts.engines +
         (parts.in_pytorch.empty() ? "" : "; in PyTorch: " + join(parts.in_pytorch, "; ")) +
         (parts.quantized.empty() ? "" : "; " + parts.precision + ": " + parts.quantized);
}

std::string Report::toText() const {
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << summary() << "\n";
  if (!phases.empty()) {
    out << "compiled in " << milliseconds() << " ms\n";
  }
  for (const Phase& phase : phases) {
    out << "  " << std::left << std::setw(14) << phase.name << std::right << std::setw(10) << phase.milliseconds
        << " ms\n";
  }
  for (const Pin& pin : precision) {
    out << "precision " << pin.pattern << " = " << pin.dtype << ": " << counted(pin.nodes, "node") << "\n";
  }
  for (const GuessedSize& size : guessed_sizes) {
    out << "one size, by a guess for " << size.reason << ": " << join(size.places, "; ")
        << "; PyTorch runs other calls\n";
  }
  if (!shared_dims.empty()) {
    out << "where there are none, say so in the Inputs: " << shared_dims << "\n";
  }
  for (const Segment& segment : segments) {
    addText(out, segment);
  }
  return out.str();
}

std::string Report::toJson() const {
  return "{\"module\": " + quoted(module) + ", \"milliseconds\": " + number(milliseconds()) +
         ", \"share_of_time\": " + (share_of_time ? number(*share_of_time) : "null") + ", \"phases\": " +
         list(phases,
              [](const Phase& phase) {
                return "{\"name\": " + quoted(phase.name) + ", \"milliseconds\": " + number(phase.milliseconds) + "}";
              }) +
         ", \"precision\": " +
         list(precision,
              [](const Pin& pin) {
                return "{\"pattern\": " + quoted(pin.pattern) + ", \"dtype\": " + quoted(pin.dtype) +
                       ", \"nodes\": " + std::to_string(pin.nodes) + "}";
              }) +
         ", \"guessed_sizes\": " +
         list(guessed_sizes,
              [](const GuessedSize& size) {
                return "{\"places\": " + jsonList(size.places) + ", \"reason\": " + quoted(size.reason) + "}";
              }) +
         ", \"shared_dims\": " + quoted(shared_dims) +
         ", \"segments\": " + list(segments, [](const Segment& segment) { return json(segment); }) +
         ", \"nodes\": " + list(nodes, [](const Node& node) { return json(node); }) +
         ", \"source_lines\": " + jsonObject(source_lines) + "}";
}

}  // namespace torchtrt
