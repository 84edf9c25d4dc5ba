// Loads a saved module and runs it in a process that links nothing of torchtrt but its runtime library.
//
//   runtime_runner MODULE INPUTS OUTPUTS [--calls N] [--threads N] [--maps]
//
// INPUTS is a torch.save of a list of tensors (the arguments of forward), OUTPUTS becomes a torch.load-able list of the
// result's tensors. --calls prints the median of N timed calls in milliseconds, --maps the names of the mapped files.
#include <ATen/Parallel.h>
#include <torch/csrc/api/include/torch/serialize.h>
#include <torch/script.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "torchtrt/runtime.h"

namespace {

struct Options {
  std::string module, inputs, outputs;
  int calls = 0;
  int threads = 0;
  bool maps = false;
};

[[noreturn]] void usage() {
  std::cerr << "usage: runtime_runner MODULE INPUTS OUTPUTS [--calls N] [--threads N] [--maps]\n";
  std::exit(2);
}

Options parse(int argc, char** argv) {
  if (argc < 4) {
    usage();
  }
  Options options{argv[1], argv[2], argv[3]};
  for (int i = 4; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--maps") {
      options.maps = true;
    } else if ((name == "--calls" || name == "--threads") && i + 1 < argc) {
      (name == "--calls" ? options.calls : options.threads) = std::atoi(argv[++i]);
    } else {
      usage();
    }
  }
  return options;
}

std::vector<c10::IValue> readInputs(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return torch::pickle_load(bytes).toListRef().vec();
}

void collect(const c10::IValue& value, std::vector<c10::IValue>& tensors) {
  if (value.isTensor()) {
    tensors.push_back(value);
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) {
      collect(element, tensors);
    }
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) {
      collect(element, tensors);
    }
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      collect(entry.value(), tensors);
    }
  }
}

void writeOutputs(const std::string& path, const c10::IValue& result) {
  std::vector<c10::IValue> tensors;
  collect(result, tensors);
  const std::vector<char> bytes = torch::pickle_save(c10::ivalue::Tuple::create(std::move(tensors)));
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

double medianMilliseconds(torch::jit::Module& module, const std::vector<c10::IValue>& inputs, int calls) {
  std::vector<double> times;
  for (int i = 0; i < calls; ++i) {
    const auto start = std::chrono::steady_clock::now();
    module.forward(inputs);
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + calls / 2, times.end());
  return times[static_cast<size_t>(calls / 2)];
}

void printMaps() {
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> files;
  for (std::string line; std::getline(maps, line);) {
    const size_t slash = line.find('/');
    if (slash != std::string::npos) {
      files.insert(line.substr(slash));
    }
  }
  for (const std::string& file : files) {
    std::cout << "map " << file << "\n";
  }
}

int run(const Options& options) {
  if (options.threads > 0) {
    at::set_num_threads(options.threads);
  }
  const auto start = std::chrono::steady_clock::now();
  torch::jit::Module module = torch::jit::load(options.module);
  const std::chrono::duration<double, std::milli> load = std::chrono::steady_clock::now() - start;
  const std::vector<c10::IValue> inputs = readInputs(options.inputs);
  const c10::InferenceMode inference;
  writeOutputs(options.outputs, module.forward(inputs));
  std::cout << "load_ms " << load.count() << "\n";
  if (options.calls > 0) {
    std::cout << "median_ms " << medianMilliseconds(module, inputs, options.calls) << "\n";
  }
  if (options.maps) {
    printMaps();
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
