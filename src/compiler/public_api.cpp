// The functions of torchtrt/compile.h: their arguments brought into the form that the phases take.
#include <algorithm>
#include <iostream>
#include <sstream>

#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/version.h>

#include "base/logging.h"
#include "compiler/compile.h"
#include "compiler/compile_watch.h"
#include "compiler/target.h"
#include "compiler/updates/update_weights.h"
#include "kernels/backend.h"
#include "runtime/engine_class.h"
#include "runtime/torch_device.h"
#include "stitching/stitching.h"
#include "torchtrt/runtime.h"
#include "torchtrt/version.h"

namespace torchtrt {

namespace {

compiler::Source sourceOf(const torch::jit::Module& module, const std::string& method) {
  return {std::make_shared<torch::jit::Module>(module), method, nullptr};
}

torch::jit::Module compileSource(const compiler::Source& source, const ts::CompileSpec& spec, Report* report) {
  runtime::checkRegistered();
  compiler::Compiled compiled = compiler::interruptible([&] { return compiler::compile(source, spec); });
  if (report != nullptr) {
    *report = std::move(compiled.report);
  }
  return std::move(compiled.module);
}

// Positions of the named bindings; every binding has to be named.
std::vector<size_t> orderOf(const std::vector<std::string>& names, const std::vector<engine::BindingInfo>& bindings,
                            const char* direction) {
  std::vector<size_t> order;
  std::string known;
  for (const engine::BindingInfo& binding : bindings) {
    known += (known.empty() ? "" : ", ") + binding.name;
  }
  for (const std::string& name : names) {
    const auto found = std::find_if(bindings.begin(), bindings.end(),
                                    [&](const engine::BindingInfo& binding) { return binding.name == name; });
    if (found == bindings.end()) {
      throw CompileError(ErrorCode::kInvalidOption, std::string("the engine has no ") + direction + " \"" + name + "\"",
                         {}, "its bindings are " + known);
    }
    order.push_back(static_cast<size_t>(found - bindings.begin()));
  }
  std::vector<size_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  const bool repeats = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  if (!names.empty() && (repeats || names.size() != bindings.size())) {
    throw CompileError(ErrorCode::kInvalidOption,
                       std::string("the names of the ") + direction + "s do not name every one once: the engine has " +
                           std::to_string(bindings.size()) + ", got " + std::to_string(names.size()),
                       {}, "its bindings are " + known);
  }
  return order;
}

}  // namespace

namespace {

// Describes the devices, and what keeps GPUs from being used, if something does.
std::string devices() {
  std::string reason;
  const kernels::Backend* const gpus = kernels::findBackend("cuda", reason);
  const int count = gpus == nullptr ? 0 : gpus->devices(reason);
  std::string text = "cpu";
  for (int i = 0; i < count; ++i) {
    const device::Properties& properties = gpus->device(i).properties();
    text += ", cuda:" + std::to_string(i) + " (" + properties.name + ", " + properties.isa + ")";
  }
  return count == 0 ? text + " (no GPU: " + reason + ")" : text;
}

}  // namespace

std::string get_build_info() {
  return std::string("torchtrt ") + kVersion + "\nlibtorch " + TORCH_VERSION + "\nABI version " + runtime::kAbiVersion +
         "\ndevices: " + devices() + "\n";
}

void dump_build_info() {
  std::cout << get_build_info();
}

void set_device(int gpu_id) {
  try {
    const at::Device device(at::kCUDA, static_cast<c10::DeviceIndex>(std::clamp(gpu_id, 0, 127)));
    runtime::needDevice(device);
    c10::impl::VirtualGuardImpl(at::kCUDA).setDevice(device);
  } catch (const EngineError& error) {
    throw CompileError(ErrorCode::kInvalidOption, error.message(), {}, "leave set_device out");
  }
}

namespace ts {

bool check_method_operator_support(const torch::jit::Module& module, std::string method_name) {
  return compiler::isSupported(sourceOf(module, method_name));
}

torch::jit::Module compile(const torch::jit::Module& module, CompileSpec info, Report* report) {
  return compileSource(sourceOf(module, "forward"), info, report);
}

torch::jit::Module compile(const std::shared_ptr<torch::jit::Graph>& graph, CompileSpec info, Report* report) {
  return compileSource({nullptr, "forward", graph}, info, report);
}

std::vector<std::string> update_weights(torch::jit::Module& compiled, const Weights& weights, bool strict) {
  runtime::checkRegistered();
  return compiler::interruptible([&] { return compiler::updateWeights(compiled, weights, strict); });
}

std::string convert_method_to_trt_engine(const torch::jit::Module& module, std::string method_name, CompileSpec info) {
  return compiler::interruptible([&] { return compiler::buildEngine(sourceOf(module, method_name), info); });
}

torch::jit::Module embed_engine_in_new_module(const std::string& engine, Device device,
                                              const std::vector<std::string>& input_binding_names,
                                              const std::vector<std::string>& output_binding_names) {
  runtime::checkRegistered();
  const auto holder = runtime::Engine::fromBytes(engine, compiler::placementOf(device));
  stitching::EmbedOptions options;
  options.input_order = orderOf(input_binding_names, holder->engine().inputs(), "input");
  options.output_order = orderOf(output_binding_names, holder->engine().outputs(), "output");
  return stitching::embed(holder, options);
}

}  // namespace ts
}  // namespace torchtrt
