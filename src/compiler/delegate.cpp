// Lowering to a backend: the settings of a method as a value of TorchScript and back, and an engine for every method
// that torch._C._jit_to_backend("tensorrt", ...) names. runtime/delegate.h runs them.
#include <torch/csrc/jit/backends/backend_preprocess.h>

#include "compiler/target.h"
#include "runtime/delegate.h"
#include "runtime/engine_class.h"
#include "torchtrt/compile.h"
#include "torchtrt/runtime.h"

namespace torchtrt {

namespace {

using runtime::DelegateSpec;
using ts::CompileSpec;
using Shape = std::vector<int64_t>;
// Minimum, optimum, maximum, dtype, format, domain, names of dimensions.
using InputTuple = std::tuple<Shape, Shape, Shape, int64_t, int64_t, std::vector<double>, std::vector<std::string>>;

constexpr std::pair<const char*, bool CompileSpec::*> kSwitches[] = {
    {"disable_tf32", &CompileSpec::disable_tf32},
    {"sparse_weights", &CompileSpec::sparse_weights},
    {"refit", &CompileSpec::refit},
    {"debug", &CompileSpec::debug},
    {"truncate_long_and_double", &CompileSpec::truncate_long_and_double},
    {"allow_shape_tensors", &CompileSpec::allow_shape_tensors},
};
constexpr std::pair<const char*, uint64_t CompileSpec::*> kSizes[] = {
    {"num_avg_timing_iters", &CompileSpec::num_avg_timing_iters},
    {"workspace_size", &CompileSpec::workspace_size},
    {"dla_sram_size", &CompileSpec::dla_sram_size},
    {"dla_local_dram_size", &CompileSpec::dla_local_dram_size},
    {"dla_global_dram_size", &CompileSpec::dla_global_dram_size},
};

InputTuple tupleOf(const Input& input) {
  return {input.min_shape, input.opt_shape,     input.max_shape, input.dtype,
          input.format,    input.tensor_domain, input.dim_names};
}

Input inputOf(const c10::IValue& tuple) {
  const std::vector<c10::IValue> elements = tuple.toTupleRef().elements().vec();
  Input input(elements.at(0).toIntVector(), elements.at(1).toIntVector(), elements.at(2).toIntVector(),
              DataType(static_cast<DataType::Value>(elements.at(3).toInt())), elements.at(5).toDoubleVector(),
              TensorFormat(static_cast<TensorFormat::Value>(elements.at(4).toInt())));
  input.dim_names = elements.at(6).to<std::vector<std::string>>();
  return input;
}

DelegateSpec::Settings settingsOf(const CompileSpec& spec) {
  auto settings = c10::impl::toTypedDict<std::string, c10::IValue>(
      c10::impl::GenericDict(c10::StringType::get(), c10::AnyType::get()));
  std::vector<InputTuple> inputs;
  for (const Input& input : spec.graph_inputs.inputs) {
    inputs.push_back(tupleOf(input));
  }
  settings.insert("inputs", inputs);
  std::vector<int64_t> precisions(spec.enabled_precisions.begin(), spec.enabled_precisions.end());
  settings.insert("enabled_precisions", precisions);
  settings.insert("op_precision", static_cast<int64_t>(spec.op_precision));
  std::vector<std::tuple<std::string, int64_t>> pins;
  for (const PrecisionPin& pin : spec.precision) {
    pins.emplace_back(pin.pattern, static_cast<int64_t>(pin.dtype));
  }
  settings.insert("precision", pins);
  const Device& device = spec.device;
  settings.insert("device", std::make_tuple(static_cast<int64_t>(device.device_type), device.gpu_id, device.dla_core,
                                            device.allow_gpu_fallback));
  settings.insert("capability", static_cast<int64_t>(spec.capability));
  for (const auto& [name, member] : kSwitches) {
    settings.insert(name, spec.*member);
  }
  for (const auto& [name, member] : kSizes) {
    settings.insert(name, static_cast<int64_t>(spec.*member));
  }
  return settings;
}

CompileSpec compileSpecOf(const DelegateSpec::Settings& settings) {
  std::vector<Input> inputs;
  for (const c10::IValue& input : settings.at("inputs").toListRef()) {
    inputs.push_back(inputOf(input));
  }
  CompileSpec spec(std::move(inputs));
  spec.enabled_precisions.clear();
  for (const int64_t precision : settings.at("enabled_precisions").toIntVector()) {
    spec.enabled_precisions.insert(DataType(static_cast<DataType::Value>(precision)));
  }
  spec.op_precision = DataType(static_cast<DataType::Value>(settings.at("op_precision").toInt()));
  for (const c10::IValue& pin : settings.at("precision").toListRef()) {
    const std::vector<c10::IValue> elements = pin.toTupleRef().elements().vec();
    spec.precision.push_back(
        {elements.at(0).toStringRef(), DataType(static_cast<DataType::Value>(elements.at(1).toInt()))});
  }
  const std::vector<c10::IValue> device = settings.at("device").toTupleRef().elements().vec();
  spec.device = {static_cast<Device::DeviceType::Value>(device.at(0).toInt()), device.at(1).toInt(),
                 device.at(2).toInt(), device.at(3).toBool()};
  spec.capability = static_cast<EngineCapability>(settings.at("capability").toInt());
  for (const auto& [name, member] : kSwitches) {
    spec.*member = settings.at(name).toBool();
  }
  for (const auto& [name, member] : kSizes) {
    spec.*member = static_cast<uint64_t>(settings.at(name).toInt());
  }
  spec.require_full_compilation = true;
  return spec;
}

// libtorch unpacks what an engine gives by the elements of the method's result.
void checkResult(const std::string& name, const c10::TypePtr& type) {
  const auto is_tensor = [](const c10::TypePtr& each) { return each->kind() == c10::TypeKind::TensorType; };
  const auto tuple = type->cast<c10::TupleType>();
  if (!is_tensor(type) && !(tuple && std::all_of(tuple->elements().begin(), tuple->elements().end(), is_tensor))) {
    throw CompileError(ErrorCode::kInvalidModule,
                       "lowered methods give a Tensor or a tuple of Tensors, " + name + " gives " + type->repr_str(),
                       {}, "use torchtrt.compile, which takes every signature");
  }
}

c10::IValue preprocess(const torch::jit::Module& module, const c10::Dict<c10::IValue, c10::IValue>& specs,
                       const torch::jit::BackendDebugHandleGenerator&) {
  runtime::checkRegistered();
  c10::Dict<std::string, c10::intrusive_ptr<runtime::Engine>> engines;
  for (const auto& entry : specs) {
    const std::string& name = entry.key().toStringRef();
    const auto method = module.find_method(name);
    if (!method) {
      throw CompileError(ErrorCode::kInvalidModule, "the module has no method \"" + name + "\"");
    }
    checkResult(name, method->function().getSchema().returns().at(0).type());
    const CompileSpec spec = compileSpecOf(entry.value().toCustomClass<DelegateSpec>()->settings);
    engines.insert(name, runtime::Engine::fromBytes(ts::convert_method_to_trt_engine(module, name, spec),
                                                    compiler::targetOf(spec, &module).placement));
  }
  return engines;
}

const torch::jit::backend_preprocess_register registration(runtime::kBackend, preprocess);

}  // namespace

torch::jit::IValue ts::to_backend_spec(const CompileSpec& info) {
  const auto refuse = [](const std::string& what) {
    throw CompileError(ErrorCode::kInvalidOption, what + " cannot be given where a whole method becomes one engine", {},
                       "use torchtrt.compile, or leave it out");
  };
  if (!info.graph_inputs.input_signature.isNone()) {
    refuse("input_signature");
  }
  if (!info.torch_executed_ops.empty() || !info.torch_executed_modules.empty()) {
    refuse("what stays in PyTorch");
  }
  if (!info.rewriters.empty()) {
    refuse("rewriters");
  }
  if (info.ptq_calibrator) {
    refuse("a calibrator");
  }
  return c10::make_intrusive<DelegateSpec>(settingsOf(info));
}

}  // namespace torchtrt
