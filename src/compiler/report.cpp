// The two forms of torchtrt::Report.
#include <iomanip>
#include <map>
#include <sstream>

#include "torchtrt/compile.h"

namespace torchtrt {

namespace {

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out << '\\' << c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out << "\\u" << std::hex << std::setw(4) << std::setfill('0') << static_cast<int>(c) << std::dec;
    } else {
      out << c;
    }
  }
  out << '"';
  return out.str();
}

// "[a, b]" of what `print` makes of every element.
template <typename Elements, typename Print>
std::string list(const Elements& elements, Print print) {
  std::string text = "[";
  for (const auto& element : elements) {
    text += (text.size() > 1 ? ", " : "") + print(element);
  }
  return text + "]";
}

std::string number(double value) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(3) << value;
  return out.str();
}

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

std::string json(const Report::Segment& segment) {
  return "{\"name\": " + quoted(segment.name) + ", \"target\": " + quoted(segment.target) +
         ", \"reason\": " + quoted(segment.reason) + ", \"nodes\": " + std::to_string(segment.nodes) +
         ", \"milliseconds\": " + number(segment.milliseconds) +
         ", \"memory_bytes\": " + std::to_string(segment.memory_bytes) + ", \"steps\": " +
         list(segment.steps,
              [](const Report::Step& step) {
                return "{\"name\": " + quoted(step.name) + ", \"family\": " + quoted(step.family) +
                       ", \"location\": " + quoted(step.location) + "}";
              }) +
         "}";
}

}  // namespace

double Report::milliseconds() const {
  double sum = 0;
  for (const Phase& phase : phases) {
    sum += phase.milliseconds;
  }
  return sum;
}

std::string Report::toText() const {
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << module << ": " << segments.size()
      << (segments.size() == 1 ? " segment" : " segments") << ", compiled in " << milliseconds() << " ms\n";
  for (const Phase& phase : phases) {
    out << "  " << std::left << std::setw(14) << phase.name << std::right << std::setw(10) << phase.milliseconds
        << " ms\n";
  }
  for (size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    out << "segment " << i << ": " << segment.target << ", " << segment.nodes
        << (segment.nodes == 1 ? " node" : " nodes") << ", " << segment.reason << "\n";
    if (!segment.name.empty()) {
      out << "  " << segment.name << ": " << segment.milliseconds << " ms, " << segment.memory_bytes
          << " bytes of weights\n"
          << "  " << segment.steps.size() << (segment.steps.size() == 1 ? " step: " : " steps: ")
          << families(segment.steps) << "\n";
    }
  }
  return out.str();
}

std::string Report::toJson() const {
  return "{\"module\": " + quoted(module) + ", \"milliseconds\": " + number(milliseconds()) + ", \"phases\": " +
         list(phases,
              [](const Phase& phase) {
                return "{\"name\": " + quoted(phase.name) + ", \"milliseconds\": " + number(phase.milliseconds) + "}";
              }) +
         ", \"segments\": " + list(segments, json) + ", \"nodes\": " +
         list(nodes,
              [](const Node& node) {
                return "{\"node\": " + quoted(node.node) + ", \"target\": " + quoted(node.target) +
                       ", \"reason\": " + quoted(node.reason) + "}";
              }) +
         "}";
}

}  // namespace torchtrt
