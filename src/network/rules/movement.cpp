// Rules of the kinds that move elements, and of the sources.
#include <algorithm>

#include "network/inference/movement.h"
#include "network/rules/checks.h"
#include "network/rules/rules.h"
#include "torchtrt/plugin.h"

namespace torchtrt::network {
namespace {

std::string checkPermutation(const std::vector<int64_t>& permutation, int rank, const char* name) {
  std::vector<int64_t> sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  bool holds = sorted.empty() || sorted.size() == static_cast<size_t>(rank);
  for (size_t i = 0; i < sorted.size(); ++i) {
    holds &= sorted[i] == static_cast<int64_t>(i);
  }
  return holds ? ""
               : expectedGot("a permutation of " + std::to_string(rank) + " axes",
                             std::string(name) + " " + textOf(permutation));
}

std::string checkFirstPermutation(const LayerContext& context) {
  return checkPermutation(context.ints("first_permutation"), context.rank(0), "first_permutation");
}

std::string checkReshape(const LayerContext& context) {
  if (!context.attributes().has("reshape_dims")) {
    return "";
  }
  const Dims input = permuted(context.dims(0), context.ints("first_permutation"));
  return resolveReshape(context, input, context.attributes().getDims("reshape_dims")).problem;
}

std::string checkSecondPermutation(const LayerContext& context) {
  const bool reshapes = context.attributes().has("reshape_dims");
  const int rank = reshapes ? context.attributes().getDims("reshape_dims").rank() : context.rank(0);
  return checkPermutation(context.ints("second_permutation"), rank, "second_permutation");
}

std::string checkSliceLists(const LayerContext& context) {
  const auto rank = static_cast<size_t>(context.rank(0));
  const auto start = static_cast<size_t>(context.attributes().getDims("start").rank());
  const auto size = static_cast<size_t>(context.attributes().getDims("size").rank());
  const size_t stride = context.ints("stride").size();
  return start == rank && size == rank && stride == rank
             ? ""
             : expectedGot("one start, size and stride per axis of " + operandText(context, 0),
                           std::to_string(start) + ", " + std::to_string(size) + " and " + std::to_string(stride));
}

std::string checkSliceStride(const LayerContext& context) {
  const std::vector<int64_t>& stride = context.ints("stride");
  return std::find(stride.begin(), stride.end(), 0) == stride.end() ? ""
                                                                    : expectedGot("no stride of 0", textOf(stride));
}

std::string checkSliceBounds(const LayerContext& context) {
  const Dims& start = context.attributes().getDims("start");
  const Dims& size = context.attributes().getDims("size");
  for (int i = 0; i < context.rank(0); ++i) {
    const Dim last = start[i] + (size[i] - 1) * Dim(context.ints("stride")[static_cast<size_t>(i)]);
    const auto outside = [&](const Dim& index) {
      return context.range(index).second < 0 || context.range(context.dims(0)[i] - index - 1).second < 0;
    };
    const bool is_empty = context.range(size[i]).first <= 0;
    if (context.range(size[i]).second < 0 || (!is_empty && (outside(start[i]) || outside(last)))) {
      return expectedGot(
          "elements of axis " + std::to_string(i) + " of " + operandText(context, 0),
          "start " + start.toString() + ", size " + size.toString() + ", stride " + textOf(context.ints("stride")));
    }
  }
  return "";
}

std::string checkExpand(const LayerContext& context) {
  const Dims& dims = context.attributes().getDims("dims");
  const std::string negative = notNegative(context, "dims");
  return !negative.empty() || context.broadcastsTo(context.dims(0), dims)
             ? negative
             : expectedGot("dims that " + operandText(context, 0) + " broadcasts to", dims.toString());
}

std::string checkParts(const LayerContext& context) {
  const auto axis = static_cast<int>(context.attributes().getInt("axis"));
  Dims expected = context.dims(0);
  for (int i = 1; i < context.operands(); ++i) {
    Dims part = context.dims(i);
    if (part.rank() == expected.rank()) {
      part[axis] = expected[axis];
    }
    const std::optional<Dims> both = context.unify(expected, part);
    if (!both) {
      return expectedGot("dims " + context.dims(0).toString() + " but for axis " + std::to_string(axis),
                         operandText(context, i));
    }
    expected = *both;
  }
  return "";
}

std::string checkIndices(const LayerContext& context) {
  const DType dtype = context.dtype(1);
  return dtype == DType::kInt32 || dtype == DType::kInt64
             ? ""
             : expectedGot("int32 or int64 indices", operandText(context, 1));
}

std::string checkElementMode(const LayerContext& context) {
  if (context.attributes().getString("mode") != "element") {
    return "";
  }
  bool holds = context.rank(1) == context.rank(0);
  for (int i = 0; holds && i < context.rank(0); ++i) {
    holds =
        i == context.attributes().getInt("axis") || context.range(context.dims(0)[i] - context.dims(1)[i]).second >= 0;
  }
  return holds
             ? ""
             : expectedGot("indices within " + operandText(context, 0) + " but for the axis", operandText(context, 1));
}

std::string checkUpdateDType(const LayerContext& context) {
  return context.dtype(2) == context.dtype(0)
             ? ""
             : expectedGot("updates of the data's dtype " + std::string(toString(context.dtype(0))),
                           operandText(context, 2));
}

std::string checkScatterReduce(const LayerContext& context) {
  return context.attributes().getString("reduce") == "none" ? "" : numericInput(context);
}

std::string checkUpdates(const LayerContext& context) {
  if (context.attributes().getString("mode") == "element") {
    const std::string problem = checkElementMode(context);
    return problem.empty() ? sameDims(context, 2, context.dims(1)) : problem;
  }
  if (context.rank(1) != 1) {
    return expectedGot("indices of one dim", operandText(context, 1));
  }
  Dims expected = context.dims(0);
  expected[static_cast<int>(context.attributes().getInt("axis"))] = context.dims(1)[0];
  return sameDims(context, 2, expected);
}

std::string checkWeights(const LayerContext& context) {
  const Weights* weights = context.layer().weights();
  if (weights == nullptr) {
    return expectedGot("data (use addConstant)", "none");
  }
  const bool negative = std::any_of(weights->dims.begin(), weights->dims.end(), [](int64_t dim) { return dim < 0; });
  return !negative && (weights->data != nullptr || weights->bytes() == 0)
             ? ""
             : expectedGot("data of dims " + textOf(weights->dims), negative ? "a negative dim" : "a null pointer");
}

std::string checkFillDims(const LayerContext& context) {
  return notNegative(context, "dims");
}

std::string checkRange(const LayerContext& context) {
  if (context.op() != "arange") {
    return "";
  }
  if (context.attributes().getDims("dims").rank() != 1) {
    return expectedGot("one dim for arange", context.attributes().getDims("dims").toString());
  }
  return isNumeric(context.attributes().getDType("dtype")) ? "" : expectedGot("a numeric dtype for arange", "bool");
}

// Runs `ask` on the layer's plugin; an exception becomes the problem.
template <typename Ask>
std::string askPlugin(const LayerContext& context, Ask ask) {
  try {
    return ask(*plugin::PluginRegistry::global().create(context.attributes()));
  } catch (const Error& error) {
    return error.message();
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string checkPluginDTypes(const LayerContext& context) {
  return askPlugin(context, [&](const plugin::Plugin& plugin) -> std::string {
    std::vector<DType> dtypes;
    std::string text;
    for (int i = 0; i < context.operands(); ++i) {
      dtypes.push_back(context.dtype(i));
      text += (i == 0 ? "" : ", ") + std::string(toString(context.dtype(i)));
    }
    return plugin.supports(dtypes) ? "" : expectedGot("dtypes that the plugin takes", text);
  });
}

std::string checkPluginShapes(const LayerContext& context) {
  return askPlugin(context, [&](const plugin::Plugin& plugin) -> std::string {
    std::vector<TensorType> inputs;
    inputs.reserve(static_cast<size_t>(context.operands()));
    for (int i = 0; i < context.operands(); ++i) {
      inputs.push_back({context.dtype(i), context.dims(i)});
    }
    const std::vector<TensorType> outputs = plugin.inferOutputs(inputs);
    if (static_cast<int>(outputs.size()) != context.layer().getNbOutputs()) {
      return expectedGot("types of " + std::to_string(context.layer().getNbOutputs()) + " outputs",
                         std::to_string(outputs.size()));
    }
    for (const TensorType& output : outputs) {
      for (const Dim& dim : output.dims) {
        if (context.range(dim).second < 0) {
          return expectedGot("dims of at least 0", "an output of " + output.dims.toString());
        }
      }
    }
    return "";
  });
}

}  // namespace

Rules shuffleRules() {
  return {
      {"first-permutation", "first_permutation is empty or a permutation of the input's axes", checkFirstPermutation},
      {"reshape", "0 copies an existing dim, at most one -1 is inferred, and the number of elements stays",
       checkReshape},
      {"second-permutation", "second_permutation is empty or a permutation of the reshaped axes",
       checkSecondPermutation},
  };
}

Rules sliceRules() {
  return {
      {"lists", "start, size and stride have one entry per axis", checkSliceLists},
      {"stride", "no stride is 0", checkSliceStride},
      {"bounds", "all elements taken are the input's", checkSliceBounds},
  };
}

Rules expandRules() {
  return {{"dims", "no dim is negative, and the input broadcasts to dims", checkExpand}};
}

Rules concatenationRules() {
  return {
      {"one-dtype", "all operands have one dtype", oneDType},
      {"axis", "the axis is one of the operands'", axisInRange},
      {"dims", "the operands have equal dims but for the axis", checkParts},
  };
}

Rules scatterRules() {
  return {
      {"indices", "the indices are int32 or int64", checkIndices},
      {"update-dtype", "the updates have the data's dtype", checkUpdateDType},
      {"axis", "the axis is one of the data's", axisInRange},
      {"reduce", "only numeric data is folded", checkScatterReduce},
      {"updates", "indices and updates have the dims that the mode asks for", checkUpdates},
  };
}

Rules gatherRules() {
  return {
      {"indices", "the indices are int32 or int64", checkIndices},
      {"axis", "the axis is one of the data's", axisInRange},
      {"element", "in mode element the indices have the data's rank, and no larger dims but along the axis",
       checkElementMode},
  };
}

Rules constantRules() {
  return {{"weights", "the layer has data of its dims", checkWeights}};
}

Rules fillRules() {
  return {
      {"dims", "no dim is negative", checkFillDims},
      {"arange", "arange has one dim and a numeric dtype", checkRange},
  };
}

Rules pluginRules() {
  return {
      {"dtypes", "the plugin takes the inputs' dtypes", checkPluginDTypes},
      {"shapes", "the plugin takes the inputs' dims and gives the type of every output", checkPluginShapes},
  };
}

}  // namespace torchtrt::network
