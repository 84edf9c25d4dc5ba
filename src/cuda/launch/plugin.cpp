#include "cuda/launch/plugin.h"

#include <memory>
#include <string>
#include <vector>

#include "torchtrt/plugin.h"

namespace torchtrt::cuda {

std::optional<Refusal> refuseOtherPlugin(const kernels::Problem& problem, const char* name_space, const char* type) {
  const Attributes& attributes = *problem.attributes;
  if (attributes.getString("namespace", "") != name_space || attributes.getString("type") != type) {
    return Refusal{"plugin", "is of the plugin " + std::string(name_space) + "::" + type + " alone"};
  }
  std::vector<DType> dtypes;
  for (const kernels::Operand& input : problem.inputs) {
    if (!input.present) {
      return Refusal{"operand", "an operand is missing"};
    }
    dtypes.push_back(input.dtype);
  }
  if (!plugin::PluginRegistry::global().create(attributes)->supports(dtypes)) {
    return Refusal{"dtype", "the plugin does not take inputs of these dtypes"};
  }
  return std::nullopt;
}

void checkPluginShapes(const Attributes& attributes, const kernels::ShapeSet& shapes) {
  std::vector<TensorType> inputs;
  for (const kernels::TensorDesc& input : shapes.inputs) {
    inputs.push_back({input.dtype, Dims::of(input.dims)});
  }
  const std::vector<TensorType> outputs = plugin::PluginRegistry::global().create(attributes)->inferOutputs(inputs);
  bool fits = outputs.size() == shapes.outputs.size();
  for (size_t i = 0; fits && i < outputs.size(); ++i) {
    fits = outputs[i].dtype == shapes.outputs[i].dtype && outputs[i].dims == Dims::of(shapes.outputs[i].dims);
  }
  if (!fits) {
    throw EngineError(ErrorCode::kPlugin,
                      "plugin " + attributes.getString("namespace", "") + "::" + attributes.getString("type") +
                          ": the outputs are not those that its inputs give",
                      {}, "the plan is damaged, or made with another version of the plugin: compile the module again");
  }
}

}  // namespace torchtrt::cuda
