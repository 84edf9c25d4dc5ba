#include "cuda/registers_table.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>

#include "cuda/compile/program.h"
#include "cuda/device/stand_in.h"
#include "cuda/emulation.h"
#include "cuda/registers.h"
#include "engine/schedule/precompile.h"
#include "kernels/problem_text.h"
#include "plan/plan.h"
#include "support/engine_call.h"
#include "torchtrt/error.h"
#include "torchtrt/plugin.h"

namespace torchtrt::cuda::testing {

namespace {

constexpr size_t kArchitectureCount = std::size(kArchitectures);
const std::string kRelease = "nvrtc ";

enum class Kind : uint8_t { kComment, kRelease, kEntry, kKernel };

Kind kindOf(const std::string& line) {
  if (line.empty() || line[0] == '#') {
    return Kind::kComment;
  }
  return line[0] == ' ' ? Kind::kKernel : line.starts_with(kRelease) ? Kind::kRelease : Kind::kEntry;
}

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

// While one lives, the machine code of a program is its text.
class CompilesNothing {
 public:
  CompilesNothing() {
    useCompiler([](const std::string& text, const std::string&) { return text; });
  }
  ~CompilesNothing() {
    useCompiler(compileByHost);
  }
  CompilesNothing(const CompilesNothing&) = delete;
  CompilesNothing& operator=(const CompilesNothing&) = delete;
};

std::vector<std::string> programsOfPlan(const std::string& path, const std::string& architecture) {
  std::ifstream file(path, std::ios::binary);
  const auto bytes =
      std::make_shared<const std::string>(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  std::vector<std::string> texts;
  for (const plan::Binary& binary :
       engine::precompiled(plan::parse(torchtrt::testing::bytesOf(*bytes), bytes), architecture)) {
    texts.push_back(*binary.code);
  }
  return texts;
}

// Returns the programs of all implementations that take the layer, and of every way that those of a library may go.
// Constants are zeros.
std::vector<std::string> programsOfLayer(const std::string& line, const std::string& architecture) {
  const StandIn device(architecture);
  kernels::ParsedProblem parsed = kernels::parseProblem(line);
  parsed.problem.device = &device;
  const kernels::ShapeSet shapes = kernels::tunedShapes(parsed.problem);
  std::vector<std::vector<double>> constants(shapes.inputs.size());  // aligned for every dtype
  for (size_t i = 0; i < shapes.inputs.size(); ++i) {
    if (parsed.constant[i]) {
      constants[i].resize(static_cast<size_t>(kernels::countOf(shapes.inputs[i].dims)));
      parsed.problem.inputs[i].constant = constants[i].data();
    }
  }
  for (const kernels::Implementation& each : kernels::findFamily(parsed.family, &device)->implementations) {
    if (std::string_view(each.name) == "host") {
      continue;
    }
    const kernels::CreateResult result = each.create(parsed.problem);
    if (const auto* const kernel = std::get_if<std::unique_ptr<kernels::Kernel>>(&result)) {
      (*kernel)->prepare(shapes)->begin();
    }
  }
  std::vector<std::string> texts;
  for (const device::MachineCode& code : device.make()) {
    texts.push_back(*code.code);
  }
  return texts;
}

// A text to compile for an architecture, by its number.
struct Job {
  size_t architecture;
  std::string text;
  std::vector<KernelNeeds> kernels = {};
};

// NVRTC compiles in several threads at once.
void compile(std::vector<Job>& jobs) {
  std::atomic<size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++) {
      try {
        jobs[i].kernels = needsOf(jobs[i].text, kArchitectures[jobs[i].architecture]);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        next = jobs.size();
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) {
      threads.emplace_back(work);
    }
    work();
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

std::string cellOf(const KernelNeeds& needs) {
  std::string text = std::to_string(needs.registers);
  if (needs.local > 0) {
    text += ",local=" + std::to_string(needs.local);
  }
  if (needs.spill_stores > 0 || needs.spill_loads > 0) {
    text += ",spills=" + std::to_string(needs.spill_stores) + "+" + std::to_string(needs.spill_loads);
  }
  return text + (needs.shared > 0 ? ",shared=" + std::to_string(needs.shared) : "");
}

// Lines of kernels by name. Programs of an entry may have kernels of one name: "map", "map/2".
class Rows {
 public:
  void add(const Job& job) {
    for (const KernelNeeds& kernel : job.kernels) {
      const int number = ++numbers_[{job.architecture, kernel.name}];
      const std::string name = number == 1 ? kernel.name : kernel.name + "/" + std::to_string(number);
      auto row = std::find_if(rows_.begin(), rows_.end(), [&](const auto& each) { return each.first == name; });
      if (row == rows_.end()) {
        row = rows_.insert(row, {name, std::vector<std::string>(kArchitectureCount, "-")});
      }
      row->second[job.architecture] = cellOf(kernel);
    }
  }
  std::string text() const {
    std::string text;
    for (const auto& [name, cells] : rows_) {
      std::string line = "  " + name;
      size_t column = 24;
      for (const std::string& cell : cells) {
        line += std::string(line.size() < column ? column - line.size() : 1, ' ') + cell;
        column += 20;
      }
      text += line + "\n";
    }
    return text;
  }

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> rows_;
  std::map<std::pair<size_t, std::string>, int> numbers_;
};

// Returns, by entry and kernel, the rest of the line with single spaces.
std::vector<std::pair<std::string, std::string>> kernelsIn(const std::string& table) {
  std::vector<std::pair<std::string, std::string>> kernels;
  std::string entry;
  for (const std::string& line : linesOf(table)) {
    if (kindOf(line) == Kind::kEntry) {
      entry = line;
    } else if (kindOf(line) == Kind::kKernel) {
      std::istringstream words(line);
      std::string name, numbers;
      words >> name;
      for (std::string word; words >> word;) {
        numbers += (numbers.empty() ? "" : " ") + word;
      }
      kernels.emplace_back(entry + ": " + name, numbers);
    }
  }
  return kernels;
}

}  // namespace

std::vector<std::string> entriesOf(const std::string& table) {
  std::vector<std::string> entries = linesOf(table);
  std::erase_if(entries, [](const std::string& line) { return kindOf(line) != Kind::kEntry; });
  return entries;
}

std::string releaseOf(const std::string& table) {
  for (const std::string& line : linesOf(table)) {
    if (kindOf(line) == Kind::kRelease) {
      return line.substr(kRelease.size());
    }
  }
  return "";
}

std::vector<std::string> programsOf(const std::string& entry, const std::string& architecture) {
  plugin::registerBuiltinPlugins();
  const CompilesNothing none;
  std::vector<std::string> texts;
  if (entry.ends_with(".cuh")) {
    texts = {Source().include(entry).text()};
  } else {
    texts = entry.ends_with(".engine") ? programsOfPlan(entry, architecture) : programsOfLayer(entry, architecture);
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

std::string renewed(const std::string& table) {
  std::vector<Job> jobs;
  std::map<std::string, std::pair<size_t, size_t>> of_entry;  // the first job, and the one behind the last
  std::set<std::pair<size_t, std::string>> seen;
  for (const std::string& entry : entriesOf(table)) {
    const size_t first = jobs.size();
    for (size_t i = 0; i < kArchitectureCount; ++i) {
      for (std::string& text : programsOf(entry, kArchitectures[i])) {
        if (seen.emplace(i, text).second) {
          jobs.push_back({i, std::move(text)});
        }
      }
    }
    of_entry[entry] = {first, jobs.size()};
  }
  compile(jobs);
  std::string text;
  for (const std::string& line : linesOf(table)) {
    const Kind kind = kindOf(line);
    if (kind == Kind::kKernel) {
      continue;
    }
    text += (kind == Kind::kRelease ? kRelease + nvrtcRelease() : line) + "\n";
    if (kind == Kind::kEntry) {
      Rows rows;
      for (size_t i = of_entry[line].first; i < of_entry[line].second; ++i) {
        rows.add(jobs[i]);
      }
      text += rows.text();
    }
  }
  return text;
}

std::vector<std::string> differences(const std::string& expected, const std::string& got) {
  const auto wanted = kernelsIn(expected), found = kernelsIn(got);
  const auto numbersOf = [](const auto& kernels, const std::string& name) {
    const auto at = std::find_if(kernels.begin(), kernels.end(), [&](const auto& each) { return each.first == name; });
    return at == kernels.end() ? std::string("no such kernel") : at->second;
  };
  std::vector<std::string> lines;
  const auto compare = [&](const std::string& name) {
    const std::string before = numbersOf(wanted, name), now = numbersOf(found, name);
    if (before != now) {
      lines.push_back(name + ": expected " + before + ", got " + now);
    }
  };
  for (const auto& [name, numbers] : wanted) {
    compare(name);
  }
  for (const auto& [name, numbers] : found) {
    if (numbersOf(wanted, name) == "no such kernel") {
      compare(name);
    }
  }
  return lines;
}

}  // namespace torchtrt::cuda::testing
