#include "compiler/checks.h"

#include "base/logging.h"
#include "compiler/precision_pins.h"
#include "torchtrt/error.h"

namespace torchtrt::compiler {

namespace {

[[noreturn]] void reject(const std::string& message, const std::string& advice) {
  throw CompileError(ErrorCode::kInvalidOption, message, {}, advice);
}

void checkDevice(const Device& device, const torch::jit::Module* module) {
  switch (device.device_type) {
    case Device::DeviceType::kCPU:
      break;
    case Device::DeviceType::kGPU:
    case Device::DeviceType::kDLA:
      reject(c10::str("the device ", device, " was asked for, and engines run on the cpu in this version"),
             "use Device(\"cpu\"), or leave the device out");
    case Device::DeviceType::kAUTO:
      break;
  }
  if (module == nullptr) {
    return;
  }
  for (const at::Tensor& parameter : module->parameters()) {
    if (!parameter.is_cpu()) {
      reject(
          "the module's parameters are on " + parameter.device().str() + ", and engines run on the cpu in this version",
          "move the module with .to(\"cpu\") first");
    }
  }
}

struct Explained {
  bool given;
  const char* name;
  const char* why;
};

void explain(const ts::CompileSpec& spec) {
  const ts::CompileSpec plain(std::vector<Input>{});
  const Explained options[] = {
      {spec.truncate_long_and_double, "truncate_long_and_double",
       "64-bit types are computed exactly, nothing is truncated"},
      {spec.disable_tf32, "disable_tf32", "the CPU computes float32 in full precision"},
      {spec.sparse_weights, "sparse_weights", "weights are kept dense on the CPU"},
      {spec.debug, "debug", "every engine keeps names and source lines"},
      {spec.refit, "refit", "compile again with the new weights, it takes a moment"},
      {spec.allow_shape_tensors, "allow_shape_tensors", "shapes are symbolic expressions and need no permission"},
      {spec.capability != plain.capability, "capability", "there is one kind of engine"},
      {spec.num_avg_timing_iters != plain.num_avg_timing_iters, "num_avg_timing_iters", "kernels are chosen by rule"},
      {spec.workspace_size != plain.workspace_size, "workspace_size",
       "the workspace is as large as the shapes ask for"},
      {spec.dla_sram_size != plain.dla_sram_size, "dla_sram_size", "there is no DLA"},
      {spec.dla_local_dram_size != plain.dla_local_dram_size, "dla_local_dram_size", "there is no DLA"},
      {spec.dla_global_dram_size != plain.dla_global_dram_size, "dla_global_dram_size", "there is no DLA"},
  };
  for (const Explained& option : options) {
    if (option.given) {
      TORCHTRT_LOG(kINFO, "option " << option.name << " is accepted and has no effect: " << option.why);
    }
  }
}

void checkPrecisions(const ts::CompileSpec& spec) {
  for (const DataType precision : spec.enabled_precisions) {
    switch (precision) {
      case DataType::kFloat:
      case DataType::kHalf:
      case DataType::kBFloat16:
      case DataType::kDouble:
      case DataType::kChar:
        break;
      default:
        reject(c10::str("enabled_precisions holds ", precision), "use float, half, bfloat16, double or int8");
    }
  }
  switch (spec.op_precision) {
    case DataType::kUnknown:
    case DataType::kFloat:
    case DataType::kHalf:
    case DataType::kBFloat16:
    case DataType::kDouble:
      break;
    default:
      reject(c10::str("op_precision is ", spec.op_precision), "use float, half, bfloat16 or double");
  }
}

}  // namespace

void checkOptions(const ts::CompileSpec& spec, const torch::jit::Module* module) {
  checkDevice(spec.device, module);
  checkPrecisions(spec);
  checkPins(spec, module);
  if (spec.require_full_compilation && !(spec.torch_executed_ops.empty() && spec.torch_executed_modules.empty())) {
    reject("require_full_compilation is set and torch_executed_ops or torch_executed_modules is not empty",
           "drop one of the two");
  }
  if (spec.tune && spec.require_full_compilation) {
    reject(
        "tune is set, which leaves to PyTorch what is slower in engines, and require_full_compilation leaves nothing",
        "drop one of the two");
  }
  explain(spec);
}

void checkSamples(const ts::CompileSpec& spec, const std::vector<torch::jit::IValue>& samples) {
  if (spec.tune && samples.empty()) {
    reject("tune is set and there are no sample inputs to time engines on", "give sample_inputs, or tensors as inputs");
  }
}

}  // namespace torchtrt::compiler
