// Loads a saved module and runs it in a process that links nothing of torchtrt but its runtime library.
//
//   runtime_runner MODULE INPUTS OUTPUTS [--each] [--library PATH] [--calls N] [--threads N] [--maps]
//
// INPUTS is a torch.save of the list of forward's arguments, OUTPUTS becomes a torch.load-able tuple of the result's
// tensors. With --each, INPUTS is a list of such lists, for calls one after the other of one module, and OUTPUTS has
// the tensors of all. --library opens a library of operators first. --calls prints the median of N timed calls in
// milliseconds, --maps the names of the mapped files.
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <torch/csrc/api/include/torch/serialize.h>
#include <torch/script.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "torchtrt/runtime.h"

namespace {

struct Options {
  std::string module, inputs, outputs, library;
  bool each = false;
  int calls = 0;
  int threads = 0;
  bool maps = false;
};

[[noreturn]] void usage() {
  std::cerr << "usage: runtime_runner MODULE INPUTS OUTPUTS [--each] [--library PATH] [--calls N] [--threads N] "
               "[--maps]\n";
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
    if (name == "--maps") {
      options.maps = true;
    } else if (name == "--each") {
      options.each = true;
    } else if (name == "--library" && i + 1 < argc) {
      options.library = argv[++i];
    } else if ((name == "--calls" || name == "--threads") && i + 1 < argc) {
      (name == "--calls" ? options.calls : options.threads) = std::atoi(argv[++i]);
    } else {
      usage();
    }
  }
  return options;
}

// Pickles do not say what their lists are of; forward takes a list of tensors only as such.
c10::IValue typed(const c10::IValue& value) {
  const auto is_tensor = [](const c10::IValue& element) { return element.isTensor(); };
  if (!value.isList() || value.toListRef().empty() ||
      !std::all_of(value.toListRef().begin(), value.toListRef().end(), is_tensor)) {
    return value;
  }
  c10::List<at::Tensor> tensors;
  for (const c10::IValue& element : value.toListRef()) {
    tensors.push_back(element.toTensor());
  }
  return tensors;
}

std::vector<c10::IValue> arguments(const c10::IValue& list) {
  std::vector<c10::IValue> typed_arguments;
  for (const c10::IValue& argument : list.toListRef()) {
    typed_arguments.push_back(typed(argument));
  }
  return typed_arguments;
}

// The arguments of each call.
std::vector<std::vector<c10::IValue>> readInputs(const std::string& path, bool each) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const c10::IValue saved = torch::pickle_load(bytes);
  std::vector<std::vector<c10::IValue>> calls;
  if (!each) {
    calls.push_back(arguments(saved));
    return calls;
  }
  for (const c10::IValue& call : saved.toListRef()) {
    calls.push_back(arguments(call));
  }
  return calls;
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

void writeOutputs(const std::string& path, std::vector<c10::IValue> tensors) {
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
  if (!options.library.empty() && dlopen(options.library.c_str(), RTLD_NOW) == nullptr) {
    throw std::runtime_error(dlerror());
  }
  const auto start = std::chrono::steady_clock::now();
  torch::jit::Module module = torch::jit::load(options.module);
  const std::chrono::duration<double, std::milli> load = std::chrono::steady_clock::now() - start;
  const std::vector<std::vector<c10::IValue>> calls = readInputs(options.inputs, options.each);
  const c10::InferenceMode inference;
  std::vector<c10::IValue> tensors;
  for (const std::vector<c10::IValue>& inputs : calls) {
    collect(module.forward(inputs), tensors);
  }
  writeOutputs(options.outputs, std::move(tensors));
  std::cout << "load_ms " << load.count() << "\n";
  if (options.calls > 0) {
    std::cout << "median_ms " << medianMilliseconds(module, calls.back(), options.calls) << "\n";
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
