#include "compiler/target.h"

#include <algorithm>
#include <vector>

#include "base/logging.h"
#include "compiler/module/source.h"
#include "compiler/rejections.h"
#include "runtime/torch_device.h"
#include "runtime/weight_set.h"
#include "torchtrt/engine.h"
#include "torchtrt/error.h"

namespace torchtrt::compiler {

namespace {

std::vector<at::Device> devicesOf(const torch::jit::Module* module) {
  std::vector<at::Device> devices;
  for (const at::Tensor& tensor : module == nullptr ? std::vector<at::Tensor>() : tensorsOf(*module)) {
    const bool is_new = tensor.defined() && std::find(devices.begin(), devices.end(), tensor.device()) == devices.end();
    if (is_new) {
      devices.push_back(tensor.device());
    }
  }
  return devices;
}

// Returns the device of the tensors that stand for a call's inputs. The CPU's go with every device.
std::optional<at::Device> deviceOfSamples(const ts::CompileSpec& spec) {
  for (const Input& input : spec.graph_inputs.inputs) {
    if (input.sample.defined() && !input.sample.is_cpu()) {
      return input.sample.device();
    }
  }
  for (const torch::jit::IValue& sample : spec.sample_inputs) {
    if (sample.isTensor() && sample.toTensor().defined() && !sample.toTensor().is_cpu()) {
      return sample.toTensor().device();
    }
  }
  return std::nullopt;
}

// Says why engines cannot be on this GPU of the machine; empty if they can.
std::string whyNotOn(const at::Device& device) {
  std::string why;
  if (!runtime::isThere(device, why)) {
    return why;
  }
  try {
    engine::describeDevice(device.str());
  } catch (const EngineError& error) {
    return error.message();
  }
  return "";
}

at::Device wantedDevice(const ts::CompileSpec& spec, const std::vector<at::Device>& of_module) {
  const Device& asked = spec.device;
  switch (asked.device_type) {
    case Device::DeviceType::kCPU:
      return at::kCPU;
    case Device::DeviceType::kGPU:
      if (asked.gpu_id < 0 || asked.gpu_id > 127) {
        rejectOption(c10::str("the device ", asked, " was asked for"), "name a GPU by its number, such as \"cuda:0\"");
      }
      return {at::kCUDA, static_cast<c10::DeviceIndex>(asked.gpu_id)};
    case Device::DeviceType::kDLA:
      rejectOption(c10::str("the device ", asked, " was asked for, and engines run on the cpu and on GPUs"),
                   "use Device(\"cpu\") or Device(\"cuda:0\")");
    case Device::DeviceType::kAUTO:
      break;
  }
  if (!spec.target.empty()) {
    return {at::kCUDA, 0};
  }
  if (of_module.size() > 1) {
    rejectOption("the module's parameters are on " + of_module[0].str() + " and on " + of_module[1].str(),
                 "move the module to one device with .to(device), or name the device of the engines");
  }
  if (!of_module.empty()) {
    return of_module.front();
  }
  return deviceOfSamples(spec).value_or(at::kCPU);
}

}  // namespace

DeviceTarget targetOf(const ts::CompileSpec& spec, const torch::jit::Module* module) {
  const std::vector<at::Device> of_module = devicesOf(module);
  if (std::count(of_module.begin(), of_module.end(), at::Device(at::kMeta)) != 0) {
    rejectOption("the module has parameters on the meta device, which hold no data",
                 "load them first: an engine holds what they are, on the cpu and on a GPU");
  }
  const at::Device wanted = wantedDevice(spec, of_module);
  DeviceTarget target;
  target.from = of_module.empty() ? deviceOfSamples(spec).value_or(at::kCPU) : of_module.front();
  std::string why_none;
  target.has_gpus = runtime::isThere(at::Device(at::kCUDA), why_none);
  std::string info;
  if (!spec.target.empty()) {
    info = runtime::deviceInfoOf(wanted.has_index() ? wanted.index() : 0, spec.target);
    if (info.empty() || wanted.is_cpu()) {
      rejectOption("target is \"" + spec.target + "\"" + (info.empty() ? "" : " and the device is the CPU"),
                   "name the architecture of a GPU, such as \"sm_90\", with the device \"cuda:0\"");
    }
  }
  if (wanted.is_cpu()) {
    return target;
  }
  target.architecture = spec.target.substr(0, spec.target.find_last_of("0123456789") + 1);  // kernels use no "sm_90a"
  const std::string why = whyNotOn(wanted);
  if (why.empty()) {
    runtime::needDevice(wanted);
    target.device = wanted;
    target.placement = {wanted, info};
    return target;
  }
  if (!wanted.is_cuda() || info.empty() || !target.from.is_cpu()) {
    rejectOption("the device " + wanted.str() + " cannot be used here: " + why,
                 wanted.is_cuda() ? "use Device(\"cpu\"), or name the GPU's architecture as target (\"sm_90\") to "
                                    "compile for a machine that has it"
                                  : "move the module with .to(\"cpu\") first");
  }
  TORCHTRT_LOG(kINFO, "compiling for " << wanted << " (" << spec.target << ") without it: " << why
                                       << "; results are checked on the CPU");
  target.placement = {at::kCPU, info};
  return target;
}

at::Device deviceOf(const torch::jit::Module& module) {
  if (const auto engines = runtime::enginesIn(module); !engines.empty()) {
    return engines.front().second->device();
  }
  const std::vector<at::Device> devices = devicesOf(&module);
  return devices.empty() ? at::Device(at::kCPU) : devices.front();
}

runtime::Placement placementOf(const Device& device) {
  ts::CompileSpec spec(std::vector<Input>{});
  spec.device = device;
  return targetOf(spec, nullptr).placement;
}

}  // namespace torchtrt::compiler
