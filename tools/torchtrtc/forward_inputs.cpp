#include "forward_inputs.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>

#include "compiler/inputs/typed_value.h"
#include "files.h"
#include "input_spec.h"
#include "random_inputs.h"
#include "saved_values.h"
#include "torchtrt/error.h"

namespace torchtrtc {

using torch::jit::IValue;
using torchtrt::CompileError;
using torchtrt::ErrorCode;

std::vector<c10::Argument> parametersOf(const torch::jit::Module& module) {
  const auto forward = module.find_method("forward");
  if (!forward) {
    throw CompileError(ErrorCode::kInvalidModule, "the module has no forward, which is what is called", {},
                       "save one that has a forward, or is scripted with what else is to be called in it");
  }
  const auto& arguments = forward->function().getSchema().arguments();
  return {arguments.begin() + 1, arguments.end()};
}

std::string declaration(const std::vector<c10::Argument>& parameters) {
  std::ostringstream text;
  for (const c10::Argument& parameter : parameters) {
    text << (text.tellp() == 0 ? "" : ", ") << parameter.name() << ": " << parameter.type()->annotation_str();
    if (parameter.default_value()) {
      text << " = " << *parameter.default_value();
    }
  }
  return "forward(" + text.str() + ")";
}

namespace {

bool takesTensor(const c10::Argument& parameter) {
  return c10::TensorType::get()->isSubtypeOf(*parameter.type());
}

bool isNeeded(const c10::Argument& parameter) {
  return !parameter.default_value();
}

// Those from the first on that take tensors may be given, and of these those without a default have to be.
void checkCount(const std::vector<c10::Argument>& parameters, size_t given, const std::string& command) {
  const auto other = std::find_if_not(parameters.begin(), parameters.end(), takesTensor);
  const auto needed = std::find_if(other, parameters.end(), isNeeded);
  if (needed != parameters.end()) {
    throw CompileError(ErrorCode::kInvalidModule,
                       "\"" + needed->name() + "\" of " + declaration(parameters) +
                           " is no tensor, and specifications make tensors alone",
                       {},
                       "write the arguments to a file with torch.save((x, ...), file), and give --inputs=FILE instead "
                       "of specifications");
  }
  const auto most = static_cast<size_t>(other - parameters.begin());
  const auto least = static_cast<size_t>(std::count_if(parameters.begin(), other, isNeeded));
  if (least <= given && given <= most) {
    return;
  }
  const std::string expected =
      least == most ? std::to_string(most) : std::to_string(least) + " to " + std::to_string(most);
  std::string example = command;
  for (size_t i = 0; i < std::clamp(given, least, most); ++i) {
    example += " \"(1,3,224,224)@f32\"";
  }
  throw CompileError(ErrorCode::kInvalidInputSpec,
                     declaration(parameters) + " takes " + expected + (most == 1 ? " tensor" : " tensors") + ", got " +
                         (given == 0 ? "no" : std::to_string(given)) +
                         (given == 1 ? " input specification" : " input specifications"),
                     {}, "give one for each tensor, in this order, with its shape and dtype, such as: " + example);
}

[[noreturn]] void rejectSaved(const std::vector<c10::Argument>& parameters, const std::string& why) {
  throw CompileError(ErrorCode::kInvalidInputSpec, declaration(parameters) + why, {},
                     "write all arguments in this order with torch.save((x, ...), file), or by name with "
                     "torch.save({\"x\": x, ...}, file)");
}

// The values in the order of the parameters, or nothing where a key is no parameter: then it is one argument itself.
std::optional<std::vector<IValue>> byName(const std::vector<c10::Argument>& parameters, const IValue& saved) {
  if (!saved.isGenericDict()) {
    return std::nullopt;
  }
  std::map<std::string, IValue> values;
  for (const auto& entry : saved.toGenericDict()) {
    const auto has_name = [&](const c10::Argument& parameter) {
      return entry.key().isString() && parameter.name() == entry.key().toStringRef();
    };
    if (std::none_of(parameters.begin(), parameters.end(), has_name)) {
      return std::nullopt;
    }
    values[entry.key().toStringRef()] = entry.value();
  }
  std::vector<IValue> arguments;
  for (const c10::Argument& parameter : parameters) {
    const auto found = values.find(parameter.name());
    if (found == values.end() && isNeeded(parameter)) {
      rejectSaved(parameters, " needs \"" + parameter.name() + "\", which the file does not have");
    }
    arguments.push_back(found == values.end() ? *parameter.default_value() : found->second);
  }
  return arguments;
}

// Collections in a file of torch.save are untyped, and forward's are not.
std::vector<IValue> savedArguments(const std::vector<c10::Argument>& parameters, const std::string& file) {
  const IValue saved = readSaved(file, "--inputs", "write the arguments with torch.save((x, ...), file)");
  std::vector<IValue> arguments =
      byName(parameters, saved).value_or(isSequence(saved) ? elementsOf(saved) : std::vector<IValue>{saved});
  const auto needed = static_cast<size_t>(std::count_if(parameters.begin(), parameters.end(), isNeeded));
  if (arguments.size() < needed || arguments.size() > parameters.size()) {
    rejectSaved(parameters, " takes " + std::to_string(parameters.size()) + " arguments, and the file has " +
                                std::to_string(arguments.size()));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::optional<IValue> typed = torchtrt::compiler::asType(arguments[i], parameters[i].type());
    if (!typed) {
      rejectSaved(parameters, " gets a " + arguments[i].tagKind() + " for \"" + parameters[i].name() + "\"");
    }
    arguments[i] = *typed;
  }
  return arguments;
}

std::vector<IValue> onDevice(std::vector<IValue> values, const std::string& name) {
  const at::Device device = deviceNamed(name);
  for (IValue& value : values) {
    value = device.is_cpu() ? value : value.deepcopy(device);
  }
  return values;
}

}  // namespace

std::vector<IValue> forwardInputs(const torch::jit::Module& module, const CallOptions& options,
                                  const std::string& command) {
  const std::vector<c10::Argument> parameters = parametersOf(module);
  if (!options.arguments.empty()) {
    if (!options.specs.empty()) {
      throw CompileError(ErrorCode::kInvalidOption, "specifications are given, and --inputs too", {},
                         "leave one of them out: both say what forward is called with");
    }
    return onDevice(savedArguments(parameters, options.arguments), options.device);
  }
  checkCount(parameters, options.specs.size(), command);
  std::vector<torch_tensorrt::Input> inputs;
  std::transform(options.specs.begin(), options.specs.end(), std::back_inserter(inputs), parseInputSpec);
  return onDevice(randomInputs(inputs), options.device);
}

}  // namespace torchtrtc
