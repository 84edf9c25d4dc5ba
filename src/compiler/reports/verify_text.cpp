// The forms of torchtrt::Verification for people and programs.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "compiler/reports/text.h"
#include "torchtrt/verify.h"

namespace torchtrt {

namespace {

using Segment = Verification::Segment;

std::string verdictOf(const Deviation& deviation) {
  return deviation.difference.empty() ? "agrees" : "disagrees";
}

std::string described(const Segment& segment) {
  const std::string where = withoutPackageFolder(segment.location);
  return "engine " + segment.name + (where.empty() ? "" : " (" + where + ")");
}

void addRow(Table& table, const Segment& segment) {
  const std::string calls = std::to_string(segment.calls);
  const std::string what = segment.name + " (" + counted(segment.nodes.size(), "operator") + ")";
  const std::string where = withoutPackageFolder(segment.location);
  if (!segment.was_compared) {
    table.add({"", "", "", "", "", calls, "not compared", what, where});
    return;
  }
  const Deviation& deviation = segment.deviation;
  table.add({brief(deviation.relative), brief(deviation.allowed), brief(deviation.ulps),
             fixed(segment.engine_milliseconds, 3), fixed(segment.torch_milliseconds, 3), calls, verdictOf(deviation),
             what, where});
}

void addDetails(std::ostream& out, const Segment& segment) {
  if (!segment.deviation.difference.empty()) {
    out << "\nengine " << segment.name << " disagrees: " << segment.deviation.difference << "\n";
    if (!segment.culprit.empty()) {
      out << "  from " << segment.culprit << " on\n";
    } else if (segment.note.empty()) {
      out << "  one that is made anew of its operators agrees: a rewriter or another version may have made it\n";
    }
  }
  if (!segment.note.empty()) {
    out << "\nengine " << segment.name << ": " << segment.note << "\n";
  }
}

// JSON has no infinity.
std::string jsonNumber(double value) {
  return std::isfinite(value) ? brief(value) : "null";
}

std::string json(const Deviation& deviation) {
  return "{\"relative\": " + jsonNumber(deviation.relative) + ", \"ulps\": " + jsonNumber(deviation.ulps) +
         ", \"allowed\": " + jsonNumber(deviation.allowed) + ", \"difference\": " + quoted(deviation.difference) + "}";
}

std::string json(const Segment& segment) {
  return "{\"name\": " + quoted(segment.name) + ", \"location\": " + quoted(segment.location) +
         ", \"nodes\": " + list(segment.nodes, quoted) + ", \"calls\": " + std::to_string(segment.calls) +
         ", \"was_compared\": " + (segment.was_compared ? "true" : "false") +
         ", \"deviation\": " + json(segment.deviation) +
         ", \"engine_milliseconds\": " + number(segment.engine_milliseconds) +
         ", \"torch_milliseconds\": " + number(segment.torch_milliseconds) +
         ", \"culprit\": " + quoted(segment.culprit) + ", \"note\": " + quoted(segment.note) + "}";
}

std::string nameOf(const Segment* segment) {
  return segment == nullptr ? "null" : quoted(segment->name);
}

}  // namespace

std::string Verification::verdict() const {
  const std::string results =
      outputs.difference.empty() ? "the outputs agree" : "the outputs disagree: " + outputs.difference;
  if (segments.empty()) {
    return results + "; no engine ran";
  }
  const std::string engines = counted(segments.size(), "engine");
  if (first() != nullptr) {
    const auto disagreeing = std::count_if(
        segments.begin(), segments.end(), [](const Segment& segment) { return !segment.deviation.difference.empty(); });
    return std::to_string(disagreeing) + " of " + engines + (disagreeing == 1 ? " disagrees" : " disagree") +
           " with PyTorch, first " + described(*first()) + ", worst " + described(*worst()) + "; " + results;
  }
  const auto compared =
      std::count_if(segments.begin(), segments.end(), [](const Segment& segment) { return segment.was_compared; });
  return results + "; " + std::to_string(compared) + " of " + engines + " compared" +
         (compared == 0 ? "" : ", all of them agree") +
         (outputs.difference.empty() || compared == 0 ? "" : ": was it compiled from this module?");
}

std::string Verification::toText() const {
  std::ostringstream out;
  out << "a forward: " << fixed(torch_milliseconds, 3) << " ms in PyTorch, " << fixed(engine_milliseconds, 3)
      << " ms compiled (medians of " << calls << "), " << counted(static_cast<size_t>(threads), "thread") << "\n"
      << "its outputs: relative error " << brief(outputs.relative) << ", allowed " << brief(outputs.allowed)
      << "; ulps " << brief(outputs.ulps) << "; " << verdictOf(outputs) << "\n";
  if (!segments.empty()) {
    Table table(6);
    table.add({"relative", "allowed", "ulps", "engine ms", "PyTorch ms", "calls", "", "engine", "where"});
    for (const Segment& segment : segments) {
      addRow(table, segment);
    }
    out << "\n";
    table.print(out);
  }
  for (const Segment& segment : segments) {
    addDetails(out, segment);
  }
  out << "\n" << verdict() << "\n";
  return out.str();
}

std::string Verification::toJson() const {
  return std::string("{\"agrees\": ") + (agrees() ? "true" : "false") + ", \"verdict\": " + quoted(verdict()) +
         ", \"threads\": " + std::to_string(threads) + ", \"calls\": " + std::to_string(calls) +
         ", \"torch_milliseconds\": " + number(torch_milliseconds) +
         ", \"engine_milliseconds\": " + number(engine_milliseconds) + ", \"outputs\": " + json(outputs) +
         ", \"first\": " + nameOf(first()) + ", \"worst\": " + nameOf(worst()) +
         ", \"segments\": " + list(segments, [](const Segment& segment) { return json(segment); }) + "}";
}

}  // namespace torchtrt
