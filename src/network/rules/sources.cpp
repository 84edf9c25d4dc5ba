// Constants and plugins: their outputs come from data and from a plugin.
#include <algorithm>

#include "network/rules/rules.h"
#include "torchtrt/plugin.h"

namespace torchtrt::network {
namespace {

using layer_rules::expectedGot;
using View = layer_rules::LayerView<Dim>;

Problem checkWeights(const View& view) {
  const Weights* weights = layerOf(view).weights();
  if (weights == nullptr) {
    return {expectedGot("data (use addConstant)", "none")};
  }
  const bool negative = std::any_of(weights->dims.begin(), weights->dims.end(), [](int64_t dim) { return dim < 0; });
  return !negative && (weights->data != nullptr || weights->bytes() == 0)
             ? Problem()
             : Problem{expectedGot("data of dims " + layer_rules::textOf(weights->dims),
                                   negative ? "a negative dim" : "a null pointer")};
}

std::vector<TensorType> operandTypes(const View& view) {
  std::vector<TensorType> types;
  types.reserve(static_cast<size_t>(view.operands()));
  for (int i = 0; i < view.operands(); ++i) {
    types.push_back({view.dtype(i), view.dims(i)});
  }
  return types;
}

// Runs `ask` on the layer's plugin; an exception becomes the problem.
template <typename Ask>
Problem askPlugin(const View& view, Ask ask) {
  try {
    return {ask(*plugin::PluginRegistry::global().create(view.attributes()))};
  } catch (const Error& error) {
    return {error.message()};
  } catch (const std::exception& error) {
    return {error.what()};
  }
}

Problem checkPluginDTypes(const View& view) {
  return askPlugin(view, [&](const plugin::Plugin& plugin) -> std::string {
    std::vector<DType> dtypes;
    std::string text;
    for (int i = 0; i < view.operands(); ++i) {
      dtypes.push_back(view.dtype(i));
      text += (i == 0 ? "" : ", ") + std::string(toString(view.dtype(i)));
    }
    return plugin.supports(dtypes) ? "" : expectedGot("dtypes that the plugin takes", text);
  });
}

Problem checkPluginShapes(const View& view) {
  return askPlugin(view, [&](const plugin::Plugin& plugin) -> std::string {
    const int count = layerOf(view).getNbOutputs();
    const std::vector<TensorType> outputs = plugin.inferOutputs(operandTypes(view));
    if (static_cast<int>(outputs.size()) != count) {
      return expectedGot("types of " + std::to_string(count) + " outputs", std::to_string(outputs.size()));
    }
    for (const TensorType& output : outputs) {
      for (const Dim& dim : output.dims) {
        if (view.most(dim) < 0) {
          return expectedGot("dims of at least 0", "an output of " + output.dims.toString());
        }
      }
    }
    return "";
  });
}

}  // namespace

Kind constantKind() {
  return {"constant", {{"weights", "the layer has data of its dims", checkWeights}}, [](const View& view) {
            const Weights* weights = layerOf(view).weights();
            return TensorTypes{{weights->dtype, Dims::of(weights->dims)}};
          }};
}

Kind pluginKind() {
  return {"plugin_v2",
          {
              {"dtypes", "the plugin takes the inputs' dtypes", checkPluginDTypes},
              {"shapes", "the plugin takes the inputs' dims and gives the type of every output", checkPluginShapes},
          },
          [](const View& view) {
            return plugin::PluginRegistry::global().create(view.attributes())->inferOutputs(operandTypes(view));
          }};
}

}  // namespace torchtrt::network
