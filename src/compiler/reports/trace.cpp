// A profile as a trace for Perfetto and chrome://tracing: Google's Trace Event Format.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/reports/text.h"
#include "torchtrt/profile.h"

namespace torchtrt {

namespace {

constexpr double kMicroseconds = 1000;  // of a millisecond

enum Row : uint8_t { kEngines = 1, kOperators = 2 };

class TraceWriter {
 public:
  void nameRow(Row row, const std::string& name) {
    addEvent("{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 1, \"tid\": " + std::to_string(row) +
             ", \"args\": {\"name\": " + quoted(name) + "}}");
  }
  // Times in microseconds; `arguments` are JSON members.
  void add(Row row, const std::string& category, const std::string& name, double start, double length,
           const std::vector<std::pair<std::string, std::string>>& arguments) {
    std::string members;
    for (const auto& [key, value] : arguments) {
      members += (members.empty() ? "" : ", ") + quoted(key) + ": " + value;
    }
    addEvent("{\"ph\": \"X\", \"name\": " + quoted(name) + ", \"cat\": " + quoted(category) +
             ", \"pid\": 1, \"tid\": " + std::to_string(row) + ", \"ts\": " + number(start) +
             ", \"dur\": " + number(length) + ", \"args\": {" + members + "}}");
  }
  std::string take() {
    return "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n" + std::move(events_) + "\n]}";
  }

 private:
  void addEvent(const std::string& event) {
    events_ += (events_.empty() ? "" : ",\n") + event;
  }

  std::string events_;
};

void addSteps(TraceWriter& trace, const Profile& profile, const Profile::Engine& engine, double start) {
  for (const Profile::Step& step : engine.steps) {
    trace.add(kEngines, step.family, step.name, start, step.microseconds,
              {{"family", quoted(step.family)},
               {"implementation", quoted(step.implementation)},
               {"location", quoted(step.location)},
               {"flops", fixed(step.flops, 0)},
               {"bytes", fixed(step.bytes, 0)},
               {"share of peak", number(profile.shareOfPeak(step))},
               {"share of bandwidth", number(profile.shareOfBandwidth(step))}});
    start += step.microseconds;
  }
}

double durationOf(const Profile::Engine& engine) {
  double steps = 0;
  for (const Profile::Step& step : engine.steps) {
    steps += step.microseconds;
  }
  const double call = engine.milliseconds * kMicroseconds / static_cast<double>(std::max<int64_t>(engine.calls, 1));
  return std::max(steps, call);
}

}  // namespace

std::string Profile::toTrace() const {
  TraceWriter trace;
  trace.nameRow(kEngines, "engines: a call of each, its steps one after the other");
  trace.nameRow(kOperators, "PyTorch: operators of a forward, the slowest first");
  double start = 0;
  for (const Engine& engine : engines) {
    const double length = durationOf(engine);
    trace.add(kEngines, "engine", "engine " + engine.name, start, length,
              {{"calls in a forward", std::to_string(engine.calls)},
               {"milliseconds of them", number(engine.milliseconds)},
               {"note", quoted(engine.note)}});
    addSteps(trace, *this, engine, start);
    start += length;
  }
  start = 0;
  for (const Operator& each : operators) {
    trace.add(kOperators, "PyTorch", each.name, start, each.milliseconds * kMicroseconds,
              {{"calls in a forward", std::to_string(each.calls)}});
    start += each.milliseconds * kMicroseconds;
  }
  return trace.take();
}

}  // namespace torchtrt
