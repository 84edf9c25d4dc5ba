#include "compiler/module/precision_pins.h"

#include <algorithm>
#include <set>

#include "base/edit_distance.h"
#include "base/logging.h"
#include "compiler/inputs/dtype_inference.h"
#include "compiler/rejections.h"
#include "runtime/dtypes.h"

namespace torchtrt::compiler {

namespace {

// Returns as many of the path's last names as the pattern has.
std::string tailOf(const std::string& path, const std::string& pattern) {
  size_t start = path.size();
  for (auto names = std::count(pattern.begin(), pattern.end(), '.'); names >= 0 && start != 0; --names) {
    const size_t dot = path.rfind('.', start - 1);
    start = dot == std::string::npos ? 0 : dot;
  }
  return path.substr(start == 0 ? 0 : start + 1);
}

std::string nearest(std::vector<std::string> paths, std::string pattern) {
  constexpr size_t kMost = 3;
  if (pattern.size() > 2 && pattern.compare(pattern.size() - 2, 2, ".*") == 0) {
    pattern.resize(pattern.size() - 2);
  }
  // The names of outer modules may have been left out, or misspelt.
  const auto farness = [&pattern](const std::string& path) {
    return std::min(editDistance(path, pattern), editDistance(tailOf(path, pattern), pattern) + 1);
  };
  std::stable_sort(paths.begin(), paths.end(),
                   [&](const std::string& a, const std::string& b) { return farness(a) < farness(b); });
  std::string text;
  for (size_t i = 0; i < std::min(paths.size(), kMost); ++i) {
    text += (i == 0 ? "" : ", ") + ("'" + paths[i] + "'");
  }
  return text;
}

void checkPattern(const std::string& pattern, const torch::jit::Module& module) {
  std::vector<std::string> paths;
  for (const auto& named : module.named_modules()) {
    if (lowering::covers(pattern, named.name)) {
      return;
    }
    if (!named.name.empty()) {
      paths.push_back(named.name);
    }
  }
  rejectOption("precision names '" + pattern + "', which is no module",
               paths.empty() ? "the module has no others inside of it; '*' is all of it"
                             : "near it are " + nearest(std::move(paths), pattern));
}

std::vector<at::Tensor> ownTensors(const torch::jit::Module& module) {
  std::vector<at::Tensor> tensors;
  for (const at::Tensor& parameter : module.parameters(/*recurse=*/false)) {
    tensors.push_back(parameter);
  }
  for (const at::Tensor& buffer : module.buffers(/*recurse=*/false)) {
    tensors.push_back(buffer);
  }
  return tensors;
}

bool hasWeights(const torch::jit::Module& module) {
  for (const auto& named : module.named_modules()) {
    for (const at::Tensor& tensor : ownTensors(named.value)) {
      if (tensor.is_floating_point()) {
        return true;
      }
    }
  }
  return false;
}

std::vector<lowering::PrecisionPin> loweringPins(const ts::CompileSpec& spec) {
  std::vector<lowering::PrecisionPin> pins;
  for (const PrecisionPin& pin : spec.precision) {
    pins.push_back({pin.pattern, runtime::scalarTypeOf(dtypeOf(pin.dtype))});
  }
  return pins;
}

// The one floating dtype of the module's weights.
at::ScalarType commonDtype(const torch::jit::Module& module) {
  std::set<at::ScalarType> types;
  for (const auto& named : module.named_modules()) {
    for (const at::Tensor& tensor : ownTensors(named.value)) {
      if (tensor.is_floating_point()) {
        types.insert(tensor.scalar_type());
      }
    }
  }
  if (types.size() > 1) {
    rejectOption("precision is pinned in a module whose weights have several floating dtypes", "say op_precision too");
  }
  return types.empty() ? at::kFloat : *types.begin();
}

}  // namespace

void checkPins(const ts::CompileSpec& spec, const torch::jit::Module* module) {
  for (const PrecisionPin& pin : spec.precision) {
    if (pin.dtype != DataType::kFloat && pin.dtype != DataType::kHalf && pin.dtype != DataType::kBFloat16) {
      rejectOption(c10::str("precision pins '", pin.pattern, "' to ", pin.dtype), "use float, half or bfloat16");
    }
    if (!module) {
      rejectOption("precision is pinned in a graph, which has no modules", "give a module");
    }
    checkPattern(pin.pattern, *module);
  }
}

ts::CompileSpec keepingInputs(const ts::CompileSpec& spec, const torch::jit::Module* module) {
  const auto& inputs = spec.graph_inputs.inputs;
  const auto other = std::find_if(inputs.begin(), inputs.end(), [&](const Input& input) {
    return input.dtype != DataType::kUnknown && isFloating(dtypeOf(input.dtype)) && input.dtype != spec.op_precision;
  });
  const bool has_it =
      std::any_of(inputs.begin(), inputs.end(), [&](const Input& input) { return input.dtype == spec.op_precision; });
  if (spec.op_precision == DataType::kUnknown || !module || other == inputs.end() || has_it || !hasWeights(*module)) {
    return spec;
  }
  if (spec.op_precision == DataType::kDouble || other->dtype == DataType::kDouble) {
    rejectOption(c10::str("op_precision is ", spec.op_precision, ", and input ", other - inputs.begin(),
                          " is declared as ", other->dtype),
                 "give that input the same dtype, or leave op_precision out");
  }
  ts::CompileSpec settled = spec;
  settled.op_precision = other->dtype;
  settled.precision.insert(settled.precision.begin(), {"*", spec.op_precision});
  return settled;
}

std::vector<at::Tensor> pinnedTensors(const ts::CompileSpec& spec, const torch::jit::Module& module) {
  const std::vector<lowering::PrecisionPin> pins = loweringPins(spec);
  std::vector<at::Tensor> tensors;
  for (const auto& named : module.named_modules()) {
    if (lowering::pinFor(pins, named.name)) {
      const std::vector<at::Tensor> own = ownTensors(named.value);
      tensors.insert(tensors.end(), own.begin(), own.end());
    }
  }
  return tensors;
}

lowering::PrecisionPins pinsFor(const ts::CompileSpec& spec, const Source& source, DataType precision) {
  if (spec.precision.empty()) {
    return {};
  }
  lowering::PrecisionPins pins{loweringPins(spec)};
  pins.rest = precision != DataType::kUnknown ? runtime::scalarTypeOf(dtypeOf(precision)) : commonDtype(*source.module);
  if (pins.rest == at::kDouble) {
    rejectOption("precision is pinned in a module of float64", "cast the module to float32 or a half precision first");
  }
  for (const at::Tensor& tensor : pinnedTensors(spec, *source.module)) {
    if (tensor.is_floating_point() && tensor.scalar_type() != pins.rest && tensor.has_storage()) {
      pins.unconverted.insert(tensor.storage().data());
    }
  }
  return pins;
}

std::vector<Report::Pin> pinsOf(const ts::CompileSpec& spec, const lowering::LoweredGraph& lowered) {
  std::vector<Report::Pin> pins;
  for (size_t i = 0; i < spec.precision.size(); ++i) {
    const PrecisionPin& pin = spec.precision[i];
    pins.push_back({pin.pattern, toString(dtypeOf(pin.dtype)), lowered.pinned.at(i)});
    if (lowered.pinned[i] == 0) {
      TORCHTRT_LOG(kWARNING, "precision of '" << pin.pattern
                                              << "' holds for no operator: later patterns cover the same modules, they "
                                                 "compute nothing, or what they read is written to");
    }
  }
  return pins;
}

}  // namespace torchtrt::compiler
