// Binds a call of a saved module and watches it, in a process that links nothing of torchtrt but its runtime library.
//
//   real_time_runner MODULE INPUTS OUTPUTS [--threads N] [--calls N] [--times] [--forward]
//
// INPUTS is a torch.save of the list of forward's arguments, OUTPUTS becomes a torch.load-able tuple of what the last
// call wrote. Each of the calls is watched. Prints "quiet", or all that the first call did that was not; then the exit
// status is 1, or 77 where the system lets nobody watch. --forward watches one call of the module's own forward
// instead, which is not for real time. --times prints quantiles of 100,000 calls, in microseconds.
#include <torch/csrc/api/include/torch/serialize.h>
#include <torch/script.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/call_watch.h"
#include "torchtrt/prepare.h"
#include "torchtrt/runtime.h"

namespace {

using torchtrt::testing::Observed;
using torchtrt::testing::watchCall;

struct Options {
  std::string module, inputs, outputs;
  int threads = 1;
  int calls = 100;
  bool times = false;
  bool forward = false;
};

[[noreturn]] void usage() {
  std::cerr << "usage: real_time_runner MODULE INPUTS OUTPUTS [--threads N] [--calls N] [--times] [--forward]\n";
  std::exit(2);
}

Options parse(int argc, char** argv) {
  if (argc < 4) {
    usage();
  }
  Options options;
  options.module = argv[1];
  options.inputs = argv[2];
  options.outputs = argv[3];
  for (int i = 4; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--times") {
      options.times = true;
    } else if (name == "--forward") {
      options.forward = true;
    } else if ((name == "--threads" || name == "--calls") && i + 1 < argc) {
      (name == "--threads" ? options.threads : options.calls) = std::atoi(argv[++i]);
    } else {
      usage();
    }
  }
  return options;
}

std::vector<at::Tensor> readInputs(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const c10::IValue saved = torch::pickle_load(bytes);
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& value : saved.toListRef()) {
    tensors.push_back(value.toTensor());
  }
  return tensors;
}

void writeOutputs(const std::string& path, const std::vector<at::Tensor>& tensors) {
  const std::vector<c10::IValue> values(tensors.begin(), tensors.end());
  const std::vector<char> bytes = torch::pickle_save(c10::ivalue::Tuple::create(values));
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void printTimes(const std::function<void()>& call) {
  constexpr size_t kCalls = 100'000;
  std::vector<double> times(kCalls);
  for (double& time : times) {
    const auto start = std::chrono::steady_clock::now();
    call();
    time = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  }
  std::sort(times.begin(), times.end());
  std::cout << "p50 " << times[kCalls / 2] << " p99 " << times[kCalls / 100 * 99] << " p99.9 "
            << times[kCalls / 1000 * 999] << " max " << times.back() << "\n";
}

int run(const Options& options) {
  torch::jit::Module module = torch::jit::load(options.module);
  torchtrt::runtime::prepare(module);
  const std::vector<at::Tensor> inputs = readInputs(options.inputs);
  torchtrt::runtime::BoundCall call(module, inputs, {}, options.threads);
  const std::vector<c10::IValue> arguments(inputs.begin(), inputs.end());
  const c10::InferenceMode inference;
  const std::function<void()> body = options.forward ? std::function<void()>([&] { module.forward(arguments); })
                                                     : std::function<void()>([&] { call.run(); });
  body();
  if (const auto why = torchtrt::testing::refuseToWatch()) {
    std::cout << *why << "\n";
    return 77;
  }
  for (int i = 0; i < options.calls; ++i) {
    if (const Observed seen = watchCall(options.threads, body); !seen.isQuiet()) {
      std::cout << "call " << i << ": " << seen.text() << "\n";
      return 1;
    }
  }
  std::cout << "quiet\n";
  if (options.times) {
    printTimes(body);
  }
  writeOutputs(options.outputs, call.outputs());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
