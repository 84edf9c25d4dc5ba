#include "cuda/launch/plugin.h"

#include <memory>
#include <string>
#include <vector>

#include "kernels/plugin_problem.h"
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
  kernels::checkPluginShapes(*plugin::PluginRegistry::global().create(attributes), kernels::pluginName(attributes),
                             shapes);
}

}  // namespace torchtrt::cuda
