// The two forms of torchtrt::Profile.
#include <algorithm>
#include <numeric>
#include <sstream>

#include "compiler/reports/text.h"
#include "torchtrt/profile.h"

namespace torchtrt {

namespace {

constexpr double kGiga = 1e9;
constexpr double kTera = 1e12;

// The unit of arithmetic that the machine's limit is told in: a GPU's figures would be long in that of a CPU.
struct Unit {
  double size;
  const char* name;
};
Unit unitOf(const Profile& profile) {
  constexpr double kManyTera = 1e13;
  return profile.flops_per_second >= kManyTera ? Unit{kTera, "TFLOP/s"} : Unit{kGiga, "GFLOP/s"};
}

std::string share(double part, double whole) {
  return whole > 0 ? fixed(100 * part / whole, 1, "%") : "";
}

void addEngine(std::ostream& out, const Profile& profile, const Profile::Engine& engine, size_t most) {
  if (!engine.note.empty()) {
    out << "\nengine " << engine.name << ": no steps, since it said: " << engine.note << "\n";
    return;
  }
  const Unit unit = unitOf(profile);
  Profile::Step sum;
  for (const Profile::Step& step : engine.steps) {
    sum.microseconds += step.microseconds;
    sum.flops += step.flops;
  }
  out << "\nengine " << engine.name << ": " << counted(engine.steps.size(), "step") << ", "
      << fixed(sum.microseconds / 1e3, 3) << " ms, " << fixed(ratio(sum.flops, sum.microseconds * 1e-6) / unit.size, 1)
      << " " << unit.name << "\n";
  std::vector<size_t> order(engine.steps.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return engine.steps[a].microseconds > engine.steps[b].microseconds; });
  const size_t shown = std::min(most, order.size());
  Table table(6);
  table.add({"us", "share", unit.name, "of peak", "GB/s", "of memory's", "step", "where"});
  double rest = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const Profile::Step& step = engine.steps[order[i]];
    if (i >= shown) {
      rest += step.microseconds;
      continue;
    }
    const double seconds = step.microseconds * 1e-6;
    table.add({fixed(step.microseconds, 1), share(step.microseconds, sum.microseconds),
               fixed(ratio(step.flops, seconds) / unit.size, 1), fixed(100 * profile.shareOfPeak(step), 0, "%"),
               fixed(ratio(step.bytes, seconds) / kGiga, 1), fixed(100 * profile.shareOfBandwidth(step), 0, "%"),
               step.name + " (" + step.family + (step.implementation.empty() ? "" : ", " + step.implementation) + ")",
               withoutPackageFolder(step.location)});
  }
  if (shown < order.size()) {
    table.add(
        {fixed(rest, 1), share(rest, sum.microseconds), "", "", "", "", counted(order.size() - shown, "more step")});
  }
  table.print(out);
}

std::string json(const Profile& profile, const Profile::Step& step) {
  return "{\"name\": " + quoted(step.name) + ", \"family\": " + quoted(step.family) +
         ", \"implementation\": " + quoted(step.implementation) + ", \"location\": " + quoted(step.location) +
         ", \"microseconds\": " + number(step.microseconds) + ", \"flops\": " + fixed(step.flops, 0) +
         ", \"bytes\": " + fixed(step.bytes, 0) + ", \"factors\": " + quoted(step.factors) +
         ", \"share_of_peak\": " + number(profile.shareOfPeak(step)) +
         ", \"share_of_bandwidth\": " + number(profile.shareOfBandwidth(step)) + "}";
}

std::string json(const Profile& profile, const Profile::Engine& engine) {
  return "{\"name\": " + quoted(engine.name) + ", \"calls\": " + std::to_string(engine.calls) +
         ", \"milliseconds\": " + number(engine.milliseconds) + ", \"note\": " + quoted(engine.note) +
         ", \"steps\": " + list(engine.steps, [&](const Profile::Step& step) { return json(profile, step); }) + "}";
}

}  // namespace

std::string Profile::toText(size_t most) const {
  std::ostringstream out;
  const Unit unit = unitOf(*this);
  std::string tensor_cores;
  if (tensor_flops_per_second > 0) {
    tensor_cores = ", " + fixed(tensor_flops_per_second / unit.size, 1) + " in float16 on tensor cores";
  } else if (unit.size == kTera) {
    tensor_cores = " without tensor cores, which exceed it";
  }
  out << "a forward: " << fixed(milliseconds, 3) << " ms (median of " << forwards << "), "
      << counted(static_cast<size_t>(threads), "thread") << "\n"
      << "the machine at its limit: " << fixed(flops_per_second / unit.size, 1) << " " << unit.name << " in float32"
      << tensor_cores << ", " << fixed(bytes_per_second / kGiga, 1) << " GB/s of memory, which caches exceed\n\n";
  Table table(3);
  table.add({"ms", "share", "calls", "what"});
  double known = 0;
  const auto row = [&](double spent, int64_t calls, const std::string& what) {
    known += spent;
    table.add({fixed(spent, 3), share(spent, milliseconds), std::to_string(calls), what});
  };
  for (const Engine& engine : engines) {
    row(engine.milliseconds, engine.calls, "engine " + engine.name);
  }
  const size_t shown = std::min(most, operators.size());
  for (size_t i = 0; i < shown; ++i) {
    row(operators[i].milliseconds, operators[i].calls, "PyTorch " + operators[i].name);
  }
  if (shown < operators.size()) {
    double spent = 0;
    int64_t calls = 0;
    for (size_t i = shown; i < operators.size(); ++i) {
      spent += operators[i].milliseconds;
      calls += operators[i].calls;
    }
    row(spent, calls, "PyTorch, " + counted(operators.size() - shown, "more operator"));
  }
  const double between = std::max(0.0, milliseconds - known);
  table.add({fixed(between, 3), share(between, milliseconds), "", "between them: the interpreter"});
  table.print(out);
  for (const Engine& engine : engines) {
    addEngine(out, *this, engine, most);
  }
  return out.str();
}

std::string Profile::toJson() const {
  return "{\"milliseconds\": " + number(milliseconds) + ", \"forwards\": " + std::to_string(forwards) +
         ", \"threads\": " + std::to_string(threads) + ", \"flops_per_second\": " + fixed(flops_per_second, 0) +
         ", \"tensor_flops_per_second\": " + fixed(tensor_flops_per_second, 0) +
         ", \"bytes_per_second\": " + fixed(bytes_per_second, 0) +
         ", \"engines\": " + list(engines, [&](const Engine& engine) { return json(*this, engine); }) +
         ", \"operators\": " +
         list(operators,
              [](const Operator& each) {
                return "{\"name\": " + quoted(each.name) + ", \"calls\": " + std::to_string(each.calls) +
                       ", \"milliseconds\": " + number(each.milliseconds) + "}";
              }) +
         "}";
}

}  // namespace torchtrt
