// Rules of the kinds that work over spatial dims.
#include <algorithm>

#include "network/inference/inference.h"
#include "network/inference/spatial.h"
#include "network/rules/checks.h"
#include "network/rules/rules.h"
#include "network/rules/spatial.h"

namespace torchtrt::network {
namespace {

std::string checkList(const LayerContext& context, const char* name, size_t count, int64_t smallest) {
  const std::vector<int64_t>& values = context.ints(name);
  const bool holds = values.size() == count &&
                     std::all_of(values.begin(), values.end(), [&](int64_t value) { return value >= smallest; });
  return holds ? ""
               : expectedGot(std::to_string(count) + " numbers of at least " + std::to_string(smallest),
                             std::string(name) + " " + textOf(values));
}

std::string checkWindowLists(const LayerContext& context, size_t count) {
  for (const auto& [name, smallest] :
       {std::pair{"stride", 1}, {"pre_padding", 0}, {"post_padding", 0}, {"dilation", 1}}) {
    if (std::string problem = checkList(context, name, count, smallest); !problem.empty()) {
      return problem;
    }
  }
  return "";
}

std::string checkDeconvolutionChannels(const LayerContext& context) {
  return context.unify(context.dims(0)[1], context.dims(1)[0])
             ? ""
             : expectedGot(context.dims(1)[0].toString() + " input channels", operandText(context, 0));
}

std::string checkBias(const LayerContext& context) {
  const bool transposed = context.layer().getType() == LayerType::kDECONVOLUTION;
  const Dims& kernel = context.dims(1);
  return sameDims(context, 2, {transposed ? kernel[1] * Dim(context.attributes().getInt("groups")) : kernel[0]});
}

std::string checkOutputPadding(const LayerContext& context) {
  const std::vector<int64_t>& padding = context.ints("output_padding");
  for (size_t i = 0; i < padding.size(); ++i) {
    if (padding[i] >= std::max(context.ints("stride")[i], context.ints("dilation")[i])) {
      return expectedGot("output_padding below stride or dilation", textOf(padding));
    }
  }
  return "";
}

// Spatial dims of the first output reach at least `smallest` for some value of the symbols.
std::string checkOutputSize(const LayerContext& context, const Dims& output, int spatial, int64_t smallest) {
  for (int i = output.rank() - spatial; i < output.rank(); ++i) {
    if (context.range(output[i]).second < smallest) {
      return expectedGot("an input that the window fits into",
                         operandText(context, 0) + ", which gives output dims " + output.toString());
    }
  }
  return "";
}

std::string checkDeconvolutionOutput(const LayerContext& context) {
  return checkOutputSize(context, inferDeconvolution(context)[0].dims, context.rank(0) - 2, 0);
}

std::string checkResidual(const LayerContext& context) {
  return sameDims(context, 3, inferConvolution(context)[0].dims);
}

std::string checkPoolingWindow(const LayerContext& context) {
  const size_t spatial = context.ints("window").size();
  if (spatial < 1 || spatial > 3 || static_cast<int>(spatial) > context.rank(0)) {
    return expectedGot("a window over 1 to 3 dims of " + operandText(context, 0), textOf(context.ints("window")));
  }
  const std::string problem = checkList(context, "window", spatial, 1);
  return problem.empty() ? checkWindowLists(context, spatial) : problem;
}

std::string checkAdaptivePoolingDType(const LayerContext& context) {
  return context.op() == "average" ? floatingInput(context) : numericInput(context);
}

std::string checkPoolingDType(const LayerContext& context) {
  return context.dtype(0) == DType::kInt64 ? "" : checkAdaptivePoolingDType(context);
}

std::string checkPoolingPadding(const LayerContext& context) {
  const std::vector<int64_t>& window = context.ints("window");
  for (size_t i = 0; i < window.size(); ++i) {
    const int64_t reach = context.ints("dilation")[i] * (window[i] - 1);
    for (const char* name : {"pre_padding", "post_padding"}) {
      if (context.ints(name)[i] > reach) {
        return expectedGot("padding of at most dilation * (window - 1) = " + std::to_string(reach),
                           std::string(name) + " " + textOf(context.ints(name)));
      }
    }
  }
  return "";
}

std::string checkAverageDilation(const LayerContext& context) {
  const std::vector<int64_t>& dilation = context.ints("dilation");
  const bool dilated = std::any_of(dilation.begin(), dilation.end(), [](int64_t value) { return value != 1; });
  return context.op() == "average" && dilated ? expectedGot("dilation 1 for average", textOf(dilation)) : "";
}

std::string checkIndices(const LayerContext& context) {
  return context.op() == "average" && context.attributes().getBool("return_indices")
             ? expectedGot("return_indices only for max", "op \"average\"")
             : "";
}

std::string checkPoolingOutput(const LayerContext& context) {
  return checkOutputSize(context, inferPooling(context)[0].dims, static_cast<int>(context.ints("window").size()), 1);
}

std::string checkSpatialSizes(const LayerContext& context, const char* name) {
  const int spatial = context.attributes().getDims(name).rank();
  if (spatial < 1 || spatial > 3 || spatial > context.rank(0)) {
    return expectedGot("sizes for the last 1 to 3 dims of " + operandText(context, 0),
                       std::string(name) + " " + context.attributes().getDims(name).toString());
  }
  return notNegative(context, name);
}

std::string checkResizeMode(const LayerContext& context) {
  const std::string& mode = context.attributes().getString("mode");
  const bool nearest = mode == "nearest" || mode == "nearest_exact";
  if (!nearest && !isFloating(context.dtype(0)) && context.dtype(0) != DType::kUInt8) {
    return expectedGot("a floating dtype or uint8 for mode " + mode, operandText(context, 0));
  }
  if (nearest && context.attributes().getBool("align_corners")) {
    return expectedGot("align_corners only for linear and cubic", "mode " + mode);
  }
  const int spatial = context.attributes().getDims("size").rank();
  return mode == "cubic" && spatial != 2 ? expectedGot("2 sizes for mode cubic", std::to_string(spatial)) : "";
}

std::string checkScales(const LayerContext& context) {
  const std::vector<double>& scales = context.attributes().getDoubles("scales");
  const auto count = static_cast<size_t>(context.attributes().getDims("size").rank());
  const bool holds = (scales.empty() || scales.size() == count) &&
                     std::all_of(scales.begin(), scales.end(), [](double scale) { return scale >= 0; });
  return holds ? ""
               : expectedGot("no scales or " + std::to_string(count) + " of at least 0", std::to_string(scales.size()));
}

std::string checkPaddingLists(const LayerContext& context) {
  for (const char* name : {"pre", "post"}) {
    const Dims& padding = context.attributes().getDims(name);
    if (padding.rank() != context.rank(0)) {
      return expectedGot("one entry per axis of " + operandText(context, 0),
                         std::string(name) + " " + padding.toString());
    }
  }
  return "";
}

std::string checkPaddingMode(const LayerContext& context) {
  const std::string& mode = context.attributes().getString("mode");
  for (int i = 0; mode != "constant" && i < context.rank(0); ++i) {
    const Dim& dim = context.dims(0)[i];
    for (const char* name : {"pre", "post"}) {
      const Dim& padding = context.attributes().getDims(name)[i];
      // reflect leaves out the border, so it has one element less to give; replicate repeats the border without end.
      const Dim room = mode == "circular" ? dim - padding : dim - padding - 1;
      const bool fits =
          padding == Dim(0) || (mode == "replicate" ? context.range(dim).second >= 1 : context.range(room).second >= 0);
      const bool crops = context.range(padding).second < 0 && mode != "circular";
      if (crops || !fits) {
        return expectedGot(mode + " padding " + (mode == "circular" ? "of at most" : "between 0 and") + " what dim " +
                               dim.toString() + " can give",
                           std::string(name) + " " + context.attributes().getDims(name).toString());
      }
    }
  }
  return "";
}

std::string checkPaddedSize(const LayerContext& context) {
  const Dims output = inferPadding(context)[0].dims;
  for (const Dim& dim : output) {
    if (context.range(dim).second < 0) {
      return expectedGot("at least 0 elements left in every dim", "output dims " + output.toString());
    }
  }
  return "";
}

std::string checkGridRanks(const LayerContext& context) {
  const int rank = context.rank(0);
  const bool holds = (rank == 4 || rank == 5) && context.rank(1) == rank;
  return holds ? ""
               : expectedGot("an input of rank 4 or 5 and a grid of the same",
                             operandText(context, 0) + " and " + operandText(context, 1));
}

std::string checkGridDims(const LayerContext& context) {
  const Dims& grid = context.dims(1);
  const Dim& last = grid[grid.rank() - 1];
  const bool holds = context.unify(grid[0], context.dims(0)[0]) && context.unify(last, Dim(context.rank(0) - 2));
  return holds ? "" : expectedGot("a grid [N,...,spatial dims] for " + operandText(context, 0), grid.toString());
}

std::string checkGridMode(const LayerContext& context) {
  const bool cubic_volume = context.attributes().getString("mode") == "cubic" && context.rank(0) != 4;
  return cubic_volume ? expectedGot("2 spatial dims for mode cubic", operandText(context, 0)) : "";
}

}  // namespace

std::string checkConvolutionRank(const LayerContext& context) {
  const int rank = context.rank(0);
  if (rank < 3 || rank > 5) {
    return expectedGot("an input of rank 3 to 5", operandText(context, 0));
  }
  return context.rank(1) == rank ? ""
                                 : expectedGot("a kernel of rank " + std::to_string(rank), operandText(context, 1));
}

std::string checkConvolutionWindow(const LayerContext& context) {
  const auto spatial = static_cast<size_t>(context.rank(0) - 2);
  const std::string problem = checkWindowLists(context, spatial);
  return problem.empty() && context.attributes().has("output_padding")
             ? checkList(context, "output_padding", spatial, 0)
             : problem;
}

std::string checkGroups(const LayerContext& context) {
  const int64_t groups = context.attributes().getInt("groups");
  if (groups < 1) {
    return expectedGot("at least one group", std::to_string(groups));
  }
  // The kernel's first dim is split over the groups: output channels of a convolution, input channels of a
  // deconvolution.
  const Dim left = Dim::mod(context.dims(1)[0], groups);
  return left.isConstant() && left.constant() != 0
             ? expectedGot("a multiple of " + std::to_string(groups) + " groups in the kernel's first dim",
                           operandText(context, 1))
             : "";
}

std::string checkConvolutionChannels(const LayerContext& context) {
  const Dim channels = context.dims(1)[1] * Dim(context.attributes().getInt("groups"));
  return context.unify(context.dims(0)[1], channels)
             ? ""
             : expectedGot(channels.toString() + " input channels", operandText(context, 0));
}

std::string checkConvolutionOutput(const LayerContext& context) {
  return checkOutputSize(context, inferConvolution(context)[0].dims, context.rank(0) - 2, 1);
}

Rules gridSampleRules() {
  return {
      {"dtype", "the input is floating", floatingInput},
      {"one-dtype", "all operands have one dtype", oneDType},
      {"rank", "input and grid have 2 or 3 spatial dims", checkGridRanks},
      {"dims", "the grid has the input's batch, and a place for each spatial dim", checkGridDims},
      {"mode", "cubic takes 2 spatial dims", checkGridMode},
  };
}

Rules convolutionRules() {
  return {
      {"rank", "the input has 1 to 3 spatial dims, and the kernel as many", checkConvolutionRank},
      {"dtype", "the input is numeric", numericInput},
      {"one-dtype", "all operands have one dtype", oneDType},
      {"window",
       "stride, paddings and dilation have one entry per spatial dim; stride and dilation >= 1, paddings >= 0",
       checkConvolutionWindow},
      {"groups", "groups >= 1, and they divide the kernel's first dim", checkGroups},
      {"channels", "the input has groups times the kernel's second dim as channels", checkConvolutionChannels},
      {"bias", "the bias has one element per output channel", checkBias},
      {"output", "the dilated kernel fits into the padded input", checkConvolutionOutput},
      {"residual", "the residual has the output's dims", checkResidual},
      {"activation", "a fused activation is one of ACTIVATION that takes the output's dtype", fusedActivation},
  };
}

Rules deconvolutionRules() {
  return {
      {"rank", "the input has 1 to 3 spatial dims, and the kernel as many", checkConvolutionRank},
      {"dtype", "the input is numeric", numericInput},
      {"one-dtype", "all operands have one dtype", oneDType},
      {"window",
       "stride, paddings, dilation and output_padding have one entry per spatial dim; stride and dilation >= 1, "
       "paddings >= 0",
       checkConvolutionWindow},
      {"groups", "groups >= 1, and they divide the kernel's first dim", checkGroups},
      {"channels", "the input has the kernel's first dim as channels", checkDeconvolutionChannels},
      {"bias", "the bias has one element per output channel", checkBias},
      {"output-padding", "output_padding is below stride or dilation", checkOutputPadding},
      {"output", "the paddings leave at least nothing", checkDeconvolutionOutput},
      {"activation", "a fused activation is one of ACTIVATION that takes the output's dtype", fusedActivation},
  };
}

Rules poolingRules() {
  return {
      {"window",
       "window, stride, paddings and dilation have one entry for each of 1 to 3 dims; paddings >= 0, the others >= 1",
       checkPoolingWindow},
      {"dtype", "average takes floating dtypes and int64, whose quotients go towards zero, max all but bool",
       checkPoolingDType},
      {"padding", "every window touches the input: paddings are at most dilation * (window - 1)", checkPoolingPadding},
      {"dilation", "average has dilation 1", checkAverageDilation},
      {"indices", "only max returns indices", checkIndices},
      {"output", "the window fits into the padded input", checkPoolingOutput},
  };
}

Rules adaptivePoolingRules() {
  return {
      {"sizes", "there are output sizes >= 0 for the last 1 to 3 dims",
       [](const LayerContext& context) { return checkSpatialSizes(context, "output_size"); }},
      {"dtype", "average takes floating dtypes, max all but bool", checkAdaptivePoolingDType},
      {"indices", "only max returns indices", checkIndices},
  };
}

Rules resizeRules() {
  return {
      {"sizes", "there are sizes >= 0 for the last 1 to 3 dims",
       [](const LayerContext& context) { return checkSpatialSizes(context, "size"); }},
      {"mode",
       "linear and cubic take floating dtypes and uint8, cubic 2 dims; align_corners belongs to linear and cubic",
       checkResizeMode},
      {"scales", "there are no scales or one >= 0 per size", checkScales},
  };
}

Rules paddingRules() {
  return {
      {"lists", "pre and post have one entry per axis", checkPaddingLists},
      {"mode", "reflect, replicate and circular add no more than the dim can give, and the first two do not crop",
       checkPaddingMode},
      {"output", "cropping leaves at least nothing", checkPaddedSize},
  };
}

}  // namespace torchtrt::network
