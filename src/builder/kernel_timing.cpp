#include "builder/kernel_timing.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "base/checkpoint.h"
#include "base/logging.h"
#include "base/median.h"
#include "cpu/threads/parallel.h"
#include "device/device.h"
#include "engine/loading/problem.h"
#include "kernels/backend.h"
#include "kernels/kernel.h"
#include "kernels/problem_text.h"
#include "kernels/scalar/half.h"
#include "kernels/work.h"

namespace torchtrt::builder {

namespace {

using Clock = std::chrono::steady_clock;
using kernels::Problem;

// Two ways that are as fast differ by less, and so does one from one minute to the next.
constexpr double kFaster = 1.05;
constexpr size_t kFewestRounds = 11;
constexpr size_t kMostRounds = 51;
constexpr double kEnough = 0.05;  // seconds for one problem, if the fewest rounds take less
// Sums in another order differ by at most this share of a result's largest value. Those of 16 bits are rounded twice.
float toleranceOf(DType dtype) {
  return dtype == DType::kFloat16 ? 2e-3F : dtype == DType::kBFloat16 ? 2e-2F : 1e-5F;
}

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

size_t countOf(const kernels::TensorDesc& desc) {
  return std::accumulate(desc.dims.begin(), desc.dims.end(), size_t{1},
                         [](size_t product, int64_t size) { return product * static_cast<size_t>(size); });
}

// Memory as kernels want it.
class Buffer {
 public:
  Buffer(const device::Device& device, size_t bytes)
      : device_(device), memory_(device.allocate(bytes, "timing kernels")) {}
  void* data() const {
    return memory_.data();
  }
  size_t bytes() const {
    return memory_.bytes();
  }
  void write(const void* from) const {
    device_.copyIn(data(), from, bytes(), {});
  }
  // Values between -1 and 1.
  void fill(DType dtype) const {
    std::mt19937 random(1);
    visit(dtype, [&]<typename T>(T (*stored)(float), float (*)(T)) {
      std::vector<T> values(bytes() / sizeof(T));
      std::generate(values.begin(), values.end(),
                    [&] { return stored(static_cast<float>(random()) / 2147483648.0F - 1.0F); });
      write(values.data());
    });
  }
  std::vector<float> read(DType dtype) const {
    std::vector<float> result;
    visit(dtype, [&]<typename T>(T (*)(float), float (*computed)(T)) {
      std::vector<T> values(bytes() / sizeof(T));
      device_.copyOut(values.data(), data(), bytes(), {});
      std::transform(values.begin(), values.end(), std::back_inserter(result), computed);
    });
    return result;
  }

 private:
  // Calls the visitor with the functions from and to float32.
  template <typename Visitor>
  static void visit(DType dtype, const Visitor& visitor) {
    if (dtype == DType::kFloat16) {
      visitor(
          +[](float x) { return kernels::toFloat16(x); }, +[](kernels::Float16 x) { return kernels::toFloat(x); });
    } else if (dtype == DType::kBFloat16) {
      visitor(
          +[](float x) { return kernels::toBFloat16(x); }, +[](kernels::BFloat16 x) { return kernels::toFloat(x); });
    } else {
      visitor(
          +[](float x) { return x; }, +[](float x) { return x; });
    }
  }

  const device::Device& device_;
  device::Memory memory_;
};

// Between two runs of a step a call reads the weights of all others, and writes the step's inputs: caches hold the
// same here.
class Caches {
 public:
  Caches(const device::Device& device, size_t bytes, int threads)
      : device_(device), others_(device, bytes), threads_(threads) {
    device.zero(others_.data(), bytes, {});  // pages that nobody wrote would all be one
  }
  void beforeRun(const std::vector<Buffer>& inputs) {
    if (!device_.isHost()) {
      // Often enough that the run is given to the device before it has ended: a clock would measure the host else.
      constexpr size_t kEnoughBytes = size_t{128} << 20, kMostTimes = 16;
      const size_t times = kEnoughBytes / std::max<size_t>(others_.bytes(), 1);
      for (size_t i = 0; i < std::clamp<size_t>(times, 1, kMostTimes); ++i) {
        device_.zero(others_.data(), others_.bytes(), {});
      }
      return;
    }
    read(others_);
    for (const Buffer& input : inputs) {
      read(input);
    }
  }

 private:
  void read(const Buffer& buffer) {
    constexpr size_t kLine = 16;
    const auto* const values = static_cast<const float*>(buffer.data());
    kernels::parallelFor(threads_, 0, static_cast<int64_t>(buffer.bytes() / sizeof(float) / kLine), 256,
                         [&](int64_t begin, int64_t end) {
                           float sum = 0;
                           for (int64_t i = begin; i < end; ++i) {
                             sum += values[static_cast<size_t>(i) * kLine];
                           }
                           seen_.store(sum, std::memory_order_relaxed);  // or the compiler would leave the loop out
                         });
  }

  const device::Device& device_;
  Buffer others_;
  int threads_;
  std::atomic<float> seen_ = 0;
};

// One implementation of a problem, ready to run.
struct Candidate {
  std::string name;
  std::unique_ptr<kernels::Kernel> kernel;
  std::unique_ptr<kernels::Prepared> prepared;
  std::unique_ptr<Buffer> scratch;
  std::vector<Buffer> outputs;
  std::unique_ptr<device::Recording> recording;  // of a run, as engines replay it; null where the device records none
  std::vector<double> seconds;
};

// Runs the implementations of one problem on random values, in turns.
class Contest {
 public:
  Contest(const Problem& problem, Caches& caches)
      : problem_(problem),
        device_(*problem.device),
        shapes_(kernels::tunedShapes(problem)),
        caches_(caches),
        timer_(device_.timer()) {
    shapes_.threads = problem.threads;
    for (size_t i = 0; i < problem.inputs.size(); ++i) {
      const kernels::Operand& operand = problem.inputs[i];
      const bool lies_on_host = operand.constant != nullptr && device_.isHost();
      const kernels::TensorDesc& desc = shapes_.inputs[i];
      inputs_.emplace_back(device_, operand.present && !lies_on_host ? countOf(desc) * sizeOf(desc.dtype) : 0);
      if (operand.constant != nullptr && !lies_on_host) {
        inputs_.back().write(operand.constant);
      } else if (inputs_.back().bytes() != 0) {
        inputs_.back().fill(desc.dtype);
      }
      pointers_.push_back(lies_on_host ? operand.constant : operand.present ? inputs_.back().data() : nullptr);
    }
  }

  // Times the problem's kernel against that of the same problem without batch_invariant. None when time is up.
  std::optional<Timing> runAgainst(const Problem& other, Clock::time_point deadline) {
    add(kernels::createKernel(problem_));
    add(kernels::createKernel(other));
    if (!runRounds(deadline)) {
      return std::nullopt;
    }
    const Candidate &asked = candidates_[0], &by_rule = candidates_[1];
    return Timing{asked.name, by_rule.name, microseconds(median(asked.seconds)), microseconds(median(by_rule.seconds))};
  }

  // None when time is up.
  std::optional<Timing> run(Clock::time_point deadline) {
    add(kernels::createKernel(problem_));
    for (const kernels::Implementation& each : kernels::findFamily(problem_.family, &device_)->implementations) {
      const std::string_view name = each.name;
      if (name != candidates_.front().name && name != "reference" && name != "host") {
        checkpoint();
        kernels::Chosen chosen = kernels::createKernel(problem_, name);
        if (name == chosen.implementation) {
          add(std::move(chosen));
        }
      }
    }
    const std::string by_rule = candidates_.front().name;
    std::erase_if(candidates_, [&](const Candidate& candidate) { return !agrees(candidate); });
    if (candidates_.size() < 2) {
      return Timing{by_rule, by_rule, 0, 0};
    }
    return runRounds(deadline) ? std::optional(fastest()) : std::nullopt;
  }

 private:
  static double microseconds(double seconds) {
    return std::round(seconds * 1e8) / 100;
  }

  // False when time is up.
  bool runRounds(Clock::time_point deadline) {
    const auto start = Clock::now();
    while (rounds_ < kFewestRounds || (rounds_ < kMostRounds && secondsSince(start) < kEnough)) {
      if (Clock::now() >= deadline) {
        return false;
      }
      // The first to run is another one each time.
      for (size_t i = 0; i < candidates_.size(); ++i) {
        checkpoint();
        time(candidates_[(i + rounds_) % candidates_.size()]);
      }
      ++rounds_;
    }
    return true;
  }

  void add(kernels::Chosen chosen) {
    Candidate candidate;
    candidate.name = chosen.implementation;
    candidate.kernel = std::move(chosen.kernel);
    candidate.prepared = candidate.kernel->prepare(shapes_);
    candidate.scratch = std::make_unique<Buffer>(device_, candidate.prepared->scratchBytes());
    for (const kernels::TensorDesc& output : shapes_.outputs) {
      candidate.outputs.emplace_back(device_, countOf(output) * sizeOf(output.dtype));
    }
    candidates_.push_back(std::move(candidate));
    Candidate& added = candidates_.back();
    runOnce(added, {});
    device_.wait({});
    device_.checkFaults();
    if (!device_.isHost() && added.prepared->isRecordable()) {
      added.recording = device_.record([&](device::Stream stream) { runOnce(added, stream); });
    }
  }

  void runOnce(const Candidate& candidate, device::Stream stream) const {
    std::vector<void*> outputs;
    for (const Buffer& output : candidate.outputs) {
      outputs.push_back(output.data());
    }
    candidate.prepared->run({pointers_.data(), outputs.data(), candidate.scratch->data(), problem_.threads, stream});
  }

  void time(Candidate& candidate) {
    caches_.beforeRun(inputs_);
    timer_->start({});
    if (candidate.recording != nullptr) {
      candidate.recording->replay({});
    } else {
      runOnce(candidate, {});
    }
    timer_->stop({});
    candidate.seconds.push_back(timer_->microseconds() * 1e-6);
  }

  // True if it agrees with the rule's choice, as far as rounding allows; false if either has a NaN.
  bool agrees(const Candidate& candidate) const {
    for (size_t i = 0; i < candidate.outputs.size(); ++i) {
      const DType dtype = shapes_.outputs[i].dtype;
      const std::vector<float> expected = candidates_.front().outputs[i].read(dtype);
      const std::vector<float> got = candidate.outputs[i].read(dtype);
      float largest = 0;
      float difference = 0;
      bool is_number = true;
      for (size_t k = 0; k < got.size(); ++k) {
        largest = std::max(largest, std::abs(expected[k]));
        difference = std::max(difference, std::abs(expected[k] - got[k]));
        is_number = is_number && std::isfinite(expected[k]) && std::isfinite(got[k]);
      }
      if (!is_number || difference > toleranceOf(dtype) * largest) {
        TORCHTRT_LOG(kDEBUG, candidate.name << " is off by " << difference << " of " << largest << " for "
                                            << problem_.toString());
        return false;
      }
    }
    return true;
  }

  Timing fastest() const {
    const Candidate& rule = candidates_.front();
    const Candidate* best = &rule;
    double best_seconds = median(rule.seconds);
    const double rule_seconds = best_seconds;
    for (const Candidate& candidate : candidates_) {
      const double seconds = median(candidate.seconds);
      if (seconds < best_seconds && winsOver(rule, candidate)) {
        best = &candidate;
        best_seconds = seconds;
      }
    }
    return {best->name, rule.name, microseconds(best_seconds), microseconds(rule_seconds)};
  }

  // True if the candidate wins by enough in the median of rounds, and at all in three rounds of four: beside a busy
  // neighbour medians alone say little.
  bool winsOver(const Candidate& rule, const Candidate& candidate) const {
    std::vector<double> ratios;
    size_t won = 0;
    for (size_t round = 0; round < rounds_; ++round) {
      ratios.push_back(rule.seconds[round] / candidate.seconds[round]);
      won += ratios.back() > 1 ? 1 : 0;
    }
    return 4 * won >= 3 * rounds_ && median(std::move(ratios)) >= kFaster &&
           median(rule.seconds) >= kFaster * median(candidate.seconds);
  }

  const Problem& problem_;
  const device::Device& device_;
  kernels::ShapeSet shapes_;
  Caches& caches_;
  std::unique_ptr<device::Timer> timer_;
  std::vector<Buffer> inputs_;
  std::vector<const void*> pointers_;
  std::vector<Candidate> candidates_;  // the rule's first
  size_t rounds_ = 0;
};

// On the CPU float32 alone: there kernels are many and costly. Not what has no elements: engines run nothing on it.
bool isTimed(const Problem& problem) {
  if (problem.family != "convolution" && problem.family != "matrix_multiply") {
    return false;
  }
  const DType dtype = problem.outputs.at(0).dtype;
  const bool is_short = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  if (dtype != DType::kFloat32 && (!is_short || problem.device->isHost())) {
    return false;
  }
  const auto is_other = [dtype](const kernels::Operand& operand) {
    return operand.present && (operand.dtype != dtype || std::find(operand.opt_dims.begin(), operand.opt_dims.end(),
                                                                   0) != operand.opt_dims.end());
  };
  return std::none_of(problem.inputs.begin(), problem.inputs.end(), is_other) &&
         std::none_of(problem.outputs.begin(), problem.outputs.end(), is_other);
}

// Returns the bytes that a call reads beside one step's operands, as far as caches could hold them.
size_t bytesOfOthers(const plan::Plan& plan, const device::Device& device) {
  constexpr size_t kMost = size_t{128} << 20;
  size_t bytes = 0;
  for (const plan::Weight& weight : plan.weights) {
    bytes += weight.bytes;
  }
  const device::Properties& properties = device.properties();
  return std::min({bytes, 2 * std::max(properties.l2_bytes, properties.l3_bytes), kMost});
}

double flopsOf(const Problem& problem) {
  std::vector<bool> present;
  for (const kernels::Operand& operand : problem.inputs) {
    present.push_back(operand.present);
  }
  return kernels::workOf(problem.family, *problem.attributes, kernels::tunedShapes(problem), present).flops;
}

// The steps of one problem: equal ones are timed once.
struct Group {
  const Problem* problem = nullptr;
  std::string line;
  double flops = 0;  // of all of them
};

std::vector<Group> groupsToTime(const std::vector<std::pair<std::string, Problem>>& problems, const Timings& known) {
  std::map<std::string, Group> groups;
  for (const auto& [line, problem] : problems) {
    if (!line.empty() && known.count(line) == 0) {
      Group& group = groups[line];
      group.problem = &problem;
      group.line = line;
      group.flops += flopsOf(problem);
    }
  }
  std::vector<Group> sorted;
  for (auto& [line, group] : groups) {
    sorted.push_back(std::move(group));
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const Group& a, const Group& b) { return a.flops > b.flops; });
  return sorted;
}

void timeGroups(const std::vector<Group>& groups, const device::Device& device, size_t bytes_of_others, int threads,
                Timings& known, double& seconds) {
  const auto start = Clock::now();
  const auto deadline = start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  Caches caches(device, bytes_of_others, threads);
  for (const Group& group : groups) {
    if (Clock::now() >= deadline) {
      break;
    }
    try {
      if (const std::optional<Timing> timing = Contest(*group.problem, caches).run(deadline)) {
        known[group.line] = *timing;
      }
    } catch (const EngineError& error) {  // such as no memory for a second packed copy of the weights
      TORCHTRT_LOG(kDEBUG, group.line << " is not timed: " << error.what());
    }
  }
  seconds = std::max(0.0, seconds - secondsSince(start));
}

// Renames what a cache knows of the problem from earlier names of implementations to theirs of today. Timings of
// implementations that are gone are forgotten.
void renameToday(const Problem& problem, const std::string& line, Timings& known) {
  const auto found = known.find(line);
  if (found == known.end()) {
    return;
  }
  const kernels::Family* const family = kernels::findFamily(problem.family, problem.device);
  const kernels::Implementation* const fastest = family->find(found->second.implementation);
  const kernels::Implementation* const by_rule = family->find(found->second.by_rule);
  if (fastest == nullptr || by_rule == nullptr) {
    known.erase(found);
    return;
  }
  found->second.implementation = fastest->name;
  found->second.by_rule = by_rule->name;
}

// True if random numbers may be its operands.
bool mayBeFilled(const Problem& problem) {
  const auto is_other = [](const kernels::Operand& operand) { return operand.present && !isFloating(operand.dtype); };
  return std::none_of(problem.inputs.begin(), problem.inputs.end(), is_other) &&
         std::none_of(problem.outputs.begin(), problem.outputs.end(), is_other);
}

// The name of a chosen kernel, as the report tells it.
std::string told(const kernels::Chosen& chosen) {
  return std::string(chosen.implementation) + (chosen.kernel->runsEachSample() ? ", sample by sample" : "");
}

}  // namespace

std::vector<TimedStep> costOfInvariance(const plan::Plan& plan, double seconds, const device::Device& device) {
  const int threads = device.threadsOf(engine::defaultThreads());
  const kernels::ThreadScope scope(threads);
  const std::vector<int64_t> optimum = engine::optimumOf(plan);
  const auto start = Clock::now();
  const auto deadline = start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  Caches caches(device, bytesOfOthers(plan, device), threads);
  std::vector<TimedStep> costs;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    checkpoint();
    Problem problem = engine::problemOf(plan, plan.steps[i], optimum, threads, device);
    problem.batch_invariant = true;
    Problem other = problem;
    other.batch_invariant = false;
    Timing cost{told(kernels::createKernel(problem)), told(kernels::createKernel(other)), 0, 0};
    if (cost.implementation == cost.by_rule) {
      continue;
    }
    if (seconds > 0 && mayBeFilled(problem)) {
      if (const std::optional<Timing> timed = Contest(problem, caches).runAgainst(other, deadline)) {
        cost.microseconds = timed->microseconds;
        cost.by_rule_microseconds = timed->by_rule_microseconds;
      }
    }
    costs.push_back({i, cost, false});
  }
  return costs;
}

std::vector<TimedStep> chooseKernels(plan::Plan& plan, Timings& known, double& seconds, const device::Device& device) {
  const int threads = device.threadsOf(engine::defaultThreads());
  const kernels::ThreadScope scope(threads);
  const std::vector<int64_t> optimum = engine::optimumOf(plan);
  std::vector<std::pair<std::string, Problem>> problems;  // by step; without a line where it is not one to time
  for (const plan::Step& step : plan.steps) {
    Problem problem = engine::problemOf(plan, step, optimum, threads, device);
    std::string line = isTimed(problem) ? problem.toString() : "";
    if (line.find('\n') != std::string::npos) {
      line.clear();
    }
    renameToday(problem, line, known);
    problems.emplace_back(std::move(line), std::move(problem));
  }
  const Timings before = known;
  const std::vector<Group> groups = groupsToTime(problems, known);
  if (seconds > 0 && !groups.empty()) {
    timeGroups(groups, device, bytesOfOthers(plan, device), threads, known, seconds);
  }
  std::vector<TimedStep> timed;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const auto found = known.find(problems[i].first);
    if (problems[i].first.empty() || found == known.end() || found->second.microseconds <= 0) {
      continue;
    }
    timed.push_back({i, found->second, before.count(found->first) != 0});
    if (found->second.implementation != found->second.by_rule) {
      plan.steps[i].hint = found->second.implementation;
      plan.timed_on = kernels::backendOf(&device).machineKey(device, threads);
    }
  }
  return timed;
}

}  // namespace torchtrt::builder
