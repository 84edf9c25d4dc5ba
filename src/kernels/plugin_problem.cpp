#include "kernels/plugin_problem.h"

#include <vector>

namespace torchtrt::kernels {
namespace {

std::string describe(DType dtype, const Dims& dims) {
  return std::string(toString(dtype)) + " " + dims.toString();
}

}  // namespace

std::string pluginName(const Attributes& attributes) {
  return attributes.getString("namespace", "") + "::" + attributes.getString("type");
}

void checkPluginShapes(const plugin::Plugin& plugin, const std::string& name, const ShapeSet& shapes) {
  std::vector<TensorType> inputs;
  for (const TensorDesc& input : shapes.inputs) {
    inputs.push_back({input.dtype, Dims::of(input.dims)});
  }
  const std::vector<TensorType> outputs = guardPlugin(name, [&] { return plugin.inferOutputs(inputs); });
  const auto expect = [&](const std::string& expected, const std::string& got) {
    if (expected != got) {
      throw EngineError(ErrorCode::kPlugin, "plugin " + name + ": expected " + expected + ", got " + got, {},
                        "the plan is damaged, or made with another version of the plugin: compile the module again");
    }
  };
  expect(std::to_string(outputs.size()) + " outputs", std::to_string(shapes.outputs.size()) + " outputs");
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string output = "output " + std::to_string(i) + " of ";
    expect(output + describe(outputs[i].dtype, outputs[i].dims),
           output + describe(shapes.outputs[i].dtype, Dims::of(shapes.outputs[i].dims)));
  }
}

}  // namespace torchtrt::kernels
