// torchtrt-bench: times single kernels, given as the problem lines that logs print.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "cpu/threads/parallel.h"
#include "kernels/backend.h"
#include "kernels/kernel.h"
#include "kernels/problem_text.h"
#include "kernels/work.h"

namespace {

using namespace torchtrt;  // NOLINT(google-build-using-namespace): a program of one file
using namespace torchtrt::kernels;

constexpr const char* kHelp = R"(usage: torchtrt-bench [options]
  --problem LINE   a problem as the log prints it; may be given many times
  --file FILE      one problem a line; empty lines and lines that begin with # are skipped
  --op FAMILY      only problems of this family
  --implementation NAME   only this implementation (default: all of the family)
  --threads N      threads of a run (default: 1)
  --device NAME    for example cuda:0 (default: cpu); runs follow each other in a recording there, so that caches stay warm
  --seconds S      time for each problem and implementation (default: 0.2)
Prints microseconds (fastest and median run), GFLOP/s and GB/s of the fastest, for every implementation that takes the problem.
)";

struct Options {
  std::vector<std::string> problems;
  std::string family;
  std::string implementation;
  std::string device = "cpu";
  int threads = 1;
  double seconds = 0.2;
};

struct alignas(64) Line {
  float values[16];
};
using Buffer = std::vector<Line>;

int64_t countOf(const std::vector<int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

size_t bytesOf(const TensorDesc& desc) {
  return static_cast<size_t>(countOf(desc.dims)) * sizeOf(desc.dtype);
}

Buffer makeBuffer(const TensorDesc& desc) {
  Buffer buffer(bytesOf(desc) / sizeof(Line) + 1);
  std::mt19937 random(1);
  if (desc.dtype == DType::kInt8 || desc.dtype == DType::kUInt8) {
    auto* bytes = reinterpret_cast<uint8_t*>(buffer.data());
    std::generate_n(bytes, bytesOf(desc), [&] { return static_cast<uint8_t>(random()); });
  }
  if (desc.dtype == DType::kFloat16 || desc.dtype == DType::kBFloat16) {  // 0.5 to 1, of either sign
    const unsigned exponent = desc.dtype == DType::kFloat16 ? 0x3800U : 0x3F00U;
    const unsigned rest = desc.dtype == DType::kFloat16 ? 0x83FFU : 0x807FU;
    auto* halves = reinterpret_cast<uint16_t*>(buffer.data());
    std::generate_n(halves, countOf(desc.dims),
                    [&] { return static_cast<uint16_t>(exponent | (static_cast<unsigned>(random()) & rest)); });
  }
  if (desc.dtype == DType::kFloat32) {
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (Line& line : buffer) {
      std::generate(std::begin(line.values), std::end(line.values), [&] { return uniform(random); });
    }
  }
  return buffer;
}

// Memory of a device with that content.
device::Memory copyOf(const device::Device& device, const Buffer& buffer) {
  device::Memory memory = device.allocate(buffer.size() * sizeof(Line), "an operand of a benchmark");
  device.copyIn(memory.data(), buffer.data(), buffer.size() * sizeof(Line), {});
  return memory;
}

class Bench {
 public:
  Bench(const std::string& line, const Options& options)
      : options_(options),
        device_(deviceNamed(options.device)),
        parsed_(parseProblem(line)),
        shapes_(tunedShapes(parsed_.problem)) {
    parsed_.problem.device = device_.isHost() ? nullptr : &device_;
    shapes_.threads = options.threads;
    parsed_.problem.threads = options.threads;
    for (size_t i = 0; i < shapes_.inputs.size(); ++i) {
      constants_.push_back(makeBuffer(shapes_.inputs[i]));
      inputs_.push_back(copyOf(device_, constants_.back()));
      if (parsed_.constant[i]) {
        parsed_.problem.inputs[i].constant = constants_.back().data();
      }
    }
    for (const TensorDesc& desc : shapes_.outputs) {
      outputs_.push_back(copyOf(device_, makeBuffer(desc)));
    }
  }

  void run() {
    std::cout << parsed_.problem.toString() << "\n";
    for (const Implementation& implementation :
         findFamily(parsed_.problem.family, parsed_.problem.device)->implementations) {
      if (options_.implementation.empty() || options_.implementation == implementation.name) {
        runOne(implementation.name);
      }
    }
  }

 private:
  void runOne(const std::string& name) {
    const Chosen chosen = createKernel(parsed_.problem, name);
    if (chosen.implementation != name) {
      const auto refusal = std::find_if(chosen.refusals.begin(), chosen.refusals.end(),
                                        [&](const auto& candidate) { return candidate.first == name; });
      std::printf("  %-10s refuses: %s\n", name.c_str(),
                  refusal == chosen.refusals.end() ? "?" : refusal->second.reason.c_str());
      return;
    }
    const std::unique_ptr<Prepared> prepared = chosen.kernel->prepare(shapes_);
    std::vector<const void*> inputs;
    std::vector<bool> present;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      present.push_back(parsed_.problem.inputs[i].present);
      inputs.push_back(present.back() ? inputs_[i].data() : nullptr);
    }
    std::vector<void*> outputs;
    for (const device::Memory& output : outputs_) {
      outputs.push_back(output.data());
    }
    const Work work = workOf(parsed_.problem.family, *parsed_.problem.attributes, shapes_, present);
    const device::Memory scratch = device_.allocate(prepared->scratchBytes() + sizeof(Line), "scratch of a benchmark");
    RunArgs args = {inputs.data(), outputs.data(), scratch.data(), options_.threads};
    const std::vector<double> times =
        device_.isHost() ? measure([&] { prepared->run(args); }) : recorded(*prepared, args);
    const double best = times.front();
    std::printf("  %-10s %10.2f us  median %10.2f us  %8.1f GFLOP/s  %7.1f GB/s\n", name.c_str(), best * 1e6,
                times[times.size() / 2] * 1e6, work.flops / best / 1e9, work.bytes / best / 1e9);
  }

  // Seconds of each run, sorted.
  std::vector<double> measure(const std::function<void()>& run) const {
    using Clock = std::chrono::steady_clock;
    const auto seconds = [](Clock::duration duration) { return std::chrono::duration<double>(duration).count(); };
    run();
    std::vector<double> times;
    const auto begin = Clock::now();
    do {
      const auto before = Clock::now();
      run();
      times.push_back(seconds(Clock::now() - before));
    } while (seconds(Clock::now() - begin) < options_.seconds || times.size() < 5);
    std::sort(times.begin(), times.end());
    return times;
  }

  // The same on a device with streams: each of many runs that follow each other.
  std::vector<double> recorded(const Prepared& prepared, RunArgs args) const {
    constexpr int kRuns = 20;
    prepared.complete();
    prepared.run(args);
    device_.wait({});
    const std::unique_ptr<device::Timer> timer = device_.timer();
    const std::unique_ptr<device::Recording> recording = device_.record([&](device::Stream stream) {
      args.stream = stream;
      for (int i = 0; i < kRuns; ++i) {
        prepared.run(args);
      }
    });
    std::vector<double> times;
    double all = 0;
    while (all < options_.seconds || times.size() < 5) {
      timer->start({});
      recording ? recording->replay({}) : prepared.run(args);
      timer->stop({});
      const double seconds = timer->microseconds() * 1e-6;
      times.push_back(seconds / (recording ? kRuns : 1));
      all += std::max(seconds, 1e-6);
    }
    std::sort(times.begin(), times.end());
    return times;
  }

  const Options& options_;
  const device::Device& device_;
  ParsedProblem parsed_;
  ShapeSet shapes_;
  std::vector<Buffer> constants_;
  std::vector<device::Memory> inputs_;
  std::vector<device::Memory> outputs_;
};

void readFile(const std::string& path, std::vector<std::string>& problems) {
  std::ifstream file(path);
  if (!file) {
    throw EngineError(ErrorCode::kInvalidOption, "cannot read '" + path + "'");
  }
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') {
      problems.push_back(line);
    }
  }
}

Options parseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--help") {
      std::cout << kHelp;
      std::exit(0);
    }
    if (i + 1 >= argc) {
      throw EngineError(ErrorCode::kInvalidOption, "option '" + option + "' is unknown or lacks its value", {},
                        "see --help");
    }
    const std::string value = argv[++i];
    if (option == "--problem") {
      options.problems.push_back(value);
    } else if (option == "--file") {
      readFile(value, options.problems);
    } else if (option == "--op") {
      options.family = value;
    } else if (option == "--implementation") {
      options.implementation = value;
    } else if (option == "--threads") {
      options.threads = std::max(1, std::atoi(value.c_str()));
    } else if (option == "--device") {
      options.device = value;
    } else if (option == "--seconds") {
      options.seconds = std::atof(value.c_str());
    } else {
      throw EngineError(ErrorCode::kInvalidOption, "option '" + option + "' is unknown", {}, "see --help");
    }
  }
  if (options.problems.empty()) {
    throw EngineError(ErrorCode::kInvalidOption, "there is no problem to time", {},
                      "give --problem or --file; see --help");
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parseOptions(argc, argv);
    for (const std::string& line : options.problems) {
      if (options.family.empty() || line.rfind(options.family + " ", 0) == 0) {
        Bench(line, options).run();
      }
    }
  } catch (const std::exception& error) {
    std::cerr << "torchtrt-bench: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
