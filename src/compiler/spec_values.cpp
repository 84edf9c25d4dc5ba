#include "compiler/spec_values.h"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace torchtrt::compiler {

namespace {

using c10::IValue;
using ts::CompileSpec;
using Shape = std::vector<int64_t>;
// Minimum, optimum, maximum, dtype, format, domain, names of dimensions, and the tensor that it was made from or None.
using InputTuple = std::tuple<Shape, Shape, Shape, int64_t, int64_t, std::vector<double>, std::vector<std::string>,
                              std::optional<at::Tensor>>;

// Stands in front of the values of an Input within a signature, where a plain tuple is a tuple of arguments.
constexpr const char* kInput = "torchtrt.Input";

constexpr std::pair<const char*, bool CompileSpec::*> kSwitches[] = {
    {"disable_tf32", &CompileSpec::disable_tf32},
    {"sparse_weights", &CompileSpec::sparse_weights},
    {"refit", &CompileSpec::refit},
    {"debug", &CompileSpec::debug},
    {"truncate_long_and_double", &CompileSpec::truncate_long_and_double},
    {"allow_shape_tensors", &CompileSpec::allow_shape_tensors},
    {"require_full_compilation", &CompileSpec::require_full_compilation},
    {"check_results", &CompileSpec::check_results},
    {"tune", &CompileSpec::tune},
    {"keep_methods", &CompileSpec::keep_methods},
    {"batch_invariant", &CompileSpec::batch_invariant},
    {"weight_zero_points", &CompileSpec::weight_zero_points},
};
constexpr std::pair<const char*, uint64_t CompileSpec::*> kSizes[] = {
    {"num_avg_timing_iters", &CompileSpec::num_avg_timing_iters},
    {"workspace_size", &CompileSpec::workspace_size},
    {"dla_sram_size", &CompileSpec::dla_sram_size},
    {"dla_local_dram_size", &CompileSpec::dla_local_dram_size},
    {"dla_global_dram_size", &CompileSpec::dla_global_dram_size},
    {"group_size", &CompileSpec::group_size},
};
constexpr std::pair<const char*, std::vector<std::string> CompileSpec::*> kNames[] = {
    {"torch_executed_ops", &CompileSpec::torch_executed_ops},
    {"torch_executed_modules", &CompileSpec::torch_executed_modules},
    {"optional_weights", &CompileSpec::optional_weights},
};
constexpr std::pair<const char*, std::string CompileSpec::*> kTexts[] = {
    {"target", &CompileSpec::target},
    {"timing_cache", &CompileSpec::timing_cache},
    {"weight_precision", &CompileSpec::weight_precision},
};

InputTuple tupleOf(const Input& input) {
  return {input.min_shape, input.opt_shape,
          input.max_shape, input.dtype,
          input.format,    input.tensor_domain,
          input.dim_names, input.sample.defined() ? std::optional(input.sample) : std::nullopt};
}

Input inputOf(const IValue& tuple) {
  const std::vector<IValue> elements = tuple.toTupleRef().elements().vec();
  Input input(elements.at(0).toIntVector(), elements.at(1).toIntVector(), elements.at(2).toIntVector(),
              DataType(static_cast<DataType::Value>(elements.at(3).toInt())), elements.at(5).toDoubleVector(),
              TensorFormat(static_cast<TensorFormat::Value>(elements.at(4).toInt())));
  input.dim_names = elements.at(6).to<std::vector<std::string>>();
  if (elements.at(7).isTensor()) {
    input.sample = elements.at(7).toTensor();
  }
  return input;
}

// A value of another for each that is no collection.
template <typename Leaf>
IValue mapped(const IValue& value, const Leaf& leaf) {
  if (std::optional<IValue> made = leaf(value)) {
    return *made;
  }
  if (value.isTuple()) {
    std::vector<IValue> elements;
    for (const IValue& element : value.toTupleRef().elements()) {
      elements.push_back(mapped(element, leaf));
    }
    return c10::ivalue::Tuple::create(std::move(elements));
  }
  if (value.isList()) {
    c10::impl::GenericList list(c10::AnyType::get());
    for (const IValue& element : value.toListRef()) {
      list.push_back(mapped(element, leaf));
    }
    return list;
  }
  if (value.isGenericDict()) {
    const auto dictionary = value.toGenericDict();
    c10::impl::GenericDict made(dictionary.keyType(), c10::AnyType::get());
    for (const auto& entry : dictionary) {
      made.insert(entry.key(), mapped(entry.value(), leaf));
    }
    return made;
  }
  return value;
}

IValue plainSignature(const IValue& signature) {
  return mapped(signature, [](const IValue& value) -> std::optional<IValue> {
    if (!value.isCustomClass()) {
      return std::nullopt;
    }
    return c10::ivalue::Tuple::create({IValue(kInput), IValue(tupleOf(*value.toCustomClass<Input>()))});
  });
}

IValue signatureOf(const IValue& plain) {
  return mapped(plain, [](const IValue& value) -> std::optional<IValue> {
    if (!value.isTuple()) {
      return std::nullopt;
    }
    const auto& elements = value.toTupleRef().elements();
    const bool is_input = elements.size() == 2 && elements[0].isString() && elements[0].toStringRef() == kInput;
    return is_input ? std::optional(IValue(c10::make_intrusive<Input>(inputOf(elements[1])))) : std::nullopt;
  });
}

}  // namespace

Settings noSettings() {
  return c10::impl::toTypedDict<std::string, IValue>(
      c10::impl::GenericDict(c10::StringType::get(), c10::AnyType::get()));
}

Settings settingsOf(const CompileSpec& spec) {
  Settings settings = noSettings();
  std::vector<InputTuple> inputs;
  for (const Input& input : spec.graph_inputs.inputs) {
    inputs.push_back(tupleOf(input));
  }
  settings.insert("inputs", inputs);
  settings.insert("input_signature", plainSignature(spec.graph_inputs.input_signature));
  settings.insert("sample_inputs", c10::ivalue::Tuple::create(spec.sample_inputs));
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
  settings.insert("min_block_size", spec.min_block_size.isGiven() ? static_cast<int64_t>(spec.min_block_size) : -1);
  settings.insert("tuning_seconds", spec.tuning_seconds);
  for (const auto& [name, member] : kSwitches) {
    settings.insert(name, spec.*member);
  }
  for (const auto& [name, member] : kSizes) {
    settings.insert(name, static_cast<int64_t>(spec.*member));
  }
  for (const auto& [name, member] : kNames) {
    settings.insert(name, spec.*member);
  }
  for (const auto& [name, member] : kTexts) {
    settings.insert(name, spec.*member);
  }
  return settings;
}

CompileSpec specOf(const Settings& settings) {
  std::vector<Input> inputs;
  for (const IValue& input : settings.at("inputs").toListRef()) {
    inputs.push_back(inputOf(input));
  }
  const IValue& signature = settings.at("input_signature");
  CompileSpec spec = signature.isNone() ? CompileSpec(std::move(inputs)) : CompileSpec(signatureOf(signature));
  spec.sample_inputs = settings.at("sample_inputs").toTupleRef().elements().vec();
  spec.enabled_precisions.clear();
  for (const int64_t precision : settings.at("enabled_precisions").toIntVector()) {
    spec.enabled_precisions.insert(DataType(static_cast<DataType::Value>(precision)));
  }
  spec.op_precision = DataType(static_cast<DataType::Value>(settings.at("op_precision").toInt()));
  for (const IValue& pin : settings.at("precision").toListRef()) {
    const std::vector<IValue> elements = pin.toTupleRef().elements().vec();
    spec.precision.push_back(
        {elements.at(0).toStringRef(), DataType(static_cast<DataType::Value>(elements.at(1).toInt()))});
  }
  const std::vector<IValue> device = settings.at("device").toTupleRef().elements().vec();
  spec.device = {static_cast<Device::DeviceType::Value>(device.at(0).toInt()), device.at(1).toInt(),
                 device.at(2).toInt(), device.at(3).toBool()};
  spec.capability = static_cast<EngineCapability>(settings.at("capability").toInt());
  if (const int64_t size = settings.at("min_block_size").toInt(); size >= 0) {
    spec.min_block_size = static_cast<uint64_t>(size);
  }
  spec.tuning_seconds = settings.at("tuning_seconds").toDouble();
  // Files of earlier releases lack later options, which keep their defaults.
  const auto read = [&](const auto& options, const auto& convert) {
    for (const auto& [name, member] : options) {
      if (settings.contains(name)) {
        spec.*member = convert(settings.at(name));
      }
    }
  };
  read(kSwitches, [](const IValue& value) { return value.toBool(); });
  read(kSizes, [](const IValue& value) { return static_cast<uint64_t>(value.toInt()); });
  read(kNames, [](const IValue& value) { return value.to<std::vector<std::string>>(); });
  read(kTexts, [](const IValue& value) { return value.toStringRef(); });
  return spec;
}

CompileSpec specOfPickled(const IValue& settings) {
  Settings typed = noSettings();
  for (const auto& entry : settings.toGenericDict()) {
    typed.insert(entry.key().toStringRef(), entry.value());
  }
  return specOf(typed);
}

}  // namespace torchtrt::compiler
