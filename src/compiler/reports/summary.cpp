#include "compiler/reports/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "compiler/reports/text.h"
#include "partitioning/partitioning.h"

namespace torchtrt::compiler {
namespace {

thread_local bool is_own_summary_asked = false;

// "91%", rounded down: 100% means all.
std::string percent(double share) {
  return fixed(std::floor(share * 100), 0, "%");
}

void addCalibration(const std::vector<Report::Segment>& segments, SummaryParts& parts) {
  size_t layers = 0;
  size_t quantized = 0;
  double worst = -1;
  bool is_calibrated = false;
  for (const Report::Segment& segment : segments) {
    if (segment.calibration) {
      is_calibrated = true;
      parts.precision = segment.calibration->precision;
      layers += segment.calibration->layers.size();
      quantized += segment.calibration->quantizedLayers();
      worst = std::max(worst, segment.calibration->error);
    }
  }
  if (is_calibrated) {
    parts.quantized = std::to_string(quantized) + " of " + counted(layers, "layer") +
                      (worst < 0 ? "" : ", engines off by " + brief(worst) + " at most");
  }
}

using Reasons = std::vector<std::pair<std::string, int>>;

// The reasons of nodes that PyTorch runs, the most frequent first.
Reasons reasonsOf(const std::vector<Report::Node>& nodes) {
  std::map<std::string, int> counts;
  for (const Report::Node& node : nodes) {
    if (works(node) && node.target != "engine") {
      ++counts[node.reason];
    }
  }
  Reasons reasons(counts.begin(), counts.end());
  std::stable_sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return reasons;
}

// The first reason, and as many more as fit into a line that one can take in at a glance.
std::vector<std::string> mostFrequent(const Reasons& reasons) {
  constexpr size_t kLongest = 160;
  constexpr size_t kBetween = 2;
  std::vector<std::string> texts;
  size_t length = 0;
  for (const auto& [why, count] : reasons) {
    std::string reason = std::to_string(count) + "x " + why;
    if (!texts.empty() && length + reason.size() > kLongest) {
      break;
    }
    if (reason.size() > kLongest) {
      reason = beginning(reason, kLongest) + "...";
    }
    length += reason.size() + kBetween;
    texts.push_back(std::move(reason));
  }
  if (const size_t left = reasons.size() - texts.size(); left != 0) {
    texts.push_back("and " + counted(left, "more reason"));
  }
  return texts;
}

}  // namespace

bool works(const Report::Node& node) {
  return node.code != partitioning::kCarriedCode;
}

SummaryParts summaryOf(const Report& report) {
  const auto nodes = static_cast<size_t>(std::count_if(report.nodes.begin(), report.nodes.end(), works));
  SummaryParts parts;
  parts.module = report.module;
  if (report.share_of_time && report.engineSegments() > 0 && report.torchSegments() > 0) {
    parts.share_of_time = "engines take over " + percent(*report.share_of_time) + " of PyTorch's time";
  }
  parts.engines = counted(static_cast<size_t>(report.engineSegments()), "engine") + ", " +
                  counted(static_cast<size_t>(report.torchSegments()), "segment") + " in PyTorch, " +
                  percent(report.shareInEngines()) + " of " + counted(nodes, "node") + " in engines";
  parts.in_pytorch = mostFrequent(reasonsOf(report.nodes));
  addCalibration(report.segments, parts);
  return parts;
}

OwnSummary::OwnSummary() : outer_(std::exchange(is_own_summary_asked, true)) {}

OwnSummary::~OwnSummary() {
  is_own_summary_asked = outer_;
}

bool OwnSummary::isAsked() {
  return is_own_summary_asked;
}

}  // namespace torchtrt::compiler
