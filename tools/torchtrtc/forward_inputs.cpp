#include "forward_inputs.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "input_spec.h"
#include "random_inputs.h"
#include "torchtrt/error.h"

namespace torchtrtc {
namespace {

using torchtrt::CompileError;
using torchtrt::ErrorCode;

// Without self.
std::vector<c10::Argument> parametersOf(const torch::jit::Module& module) {
  const auto forward = module.find_method("forward");
  if (!forward) {
    throw CompileError(ErrorCode::kInvalidModule, "the module has no forward, which is what is called", {},
                       "save one that has a forward, or is scripted with what else is to be called in it");
  }
  const auto& arguments = forward->function().getSchema().arguments();
  return {arguments.begin() + 1, arguments.end()};
}

// "forward(x: Tensor, mask: Optional[Tensor] = None)"
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
                       {}, "call the module in Python, or wrap it in one whose forward takes tensors alone");
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

}  // namespace

std::vector<torch::jit::IValue> forwardInputs(const torch::jit::Module& module, const std::vector<std::string>& specs,
                                              const std::string& command) {
  checkCount(parametersOf(module), specs.size(), command);
  std::vector<torch_tensorrt::Input> inputs;
  std::transform(specs.begin(), specs.end(), std::back_inserter(inputs), parseInputSpec);
  return randomInputs(inputs);
}

}  // namespace torchtrtc
