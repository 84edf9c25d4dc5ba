// Kinds that make another size of the last dims: pooling, adaptive pooling, resize, grid_sample.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/layer_rules/windows.h"

namespace torchtrt::layer_rules {

template <typename D>
class PoolingRules {
 public:
  using Layer = LayerView<D>;
  using Dims = typename Layer::Dims;
  using Types = typename Layer::Types;

  static std::vector<Kind<D>> kinds() {
    const Rule<D> indices = {"indices", "only max returns indices", checkIndices};
    const char* const empty = "an empty dim gives an empty one";
    return {
        {"pooling",
         {
             {"window",
              "window, stride, paddings and dilation have one entry for each of 1 to 3 dims; paddings >= 0, the others "
              ">= 1",
              checkPoolingWindow},
             {"dtype", "average takes floating dtypes and int64, whose quotients go towards zero, max all but bool",
              checkPoolingDType},
             {"padding", "every window touches the input: paddings are at most dilation * (window - 1)",
              checkPoolingPadding},
             {"dilation", "average has dilation 1", checkAverageDilation},
             {"divisor", "the divisor is not negative", checkDivisor},
             indices,
             {"output", "the window fits into the padded input", checkPoolingOutput},
         },
         pooling},
        {"adaptive_pooling",
         {
             {"sizes", "there are output sizes >= 0 for the last 1 to 3 dims",
              [](const Layer& layer) { return checkSizes(layer, kOutputSize); }},
             {"dtype", "average takes floating dtypes, max all but bool", checkAdaptivePoolingDType},
             indices,
             {"empty", empty, [](const Layer& layer) { return checkEmpty(layer, kOutputSize); }},
         },
         adaptivePooling},
        {"resize",
         {
             {"sizes", "there are sizes >= 0 for the last 1 to 3 dims",
              [](const Layer& layer) { return checkSizes(layer, kSize); }},
             {"mode",
              "linear and cubic take floating dtypes and uint8, cubic 2 dims; align_corners belongs to linear and "
              "cubic",
              checkResizeMode},
             {"scales", "there are no scales or one finite number >= 0 per size", checkScales},
             {"empty", empty, [](const Layer& layer) { return checkEmpty(layer, kSize); }},
         },
         [](const Layer& layer) {
           return Types{{layer.dtype(0), resized(layer, kSize)}};
         }},
        {"grid_sample",
         {
             {"dtype", "the input is floating", floatingInput},
             {"one-dtype", "all operands have one dtype", oneDType},
             {"rank", "input and grid have 2 or 3 spatial dims", checkGridRanks},
             {"dims", "the grid has the input's batch, and a place for each spatial dim", checkGridDims},
             {"mode", "cubic takes 2 spatial dims", checkGridMode},
         },
         gridSample},
    };
  }

 private:
  static constexpr const char* kOutputSize = "output_size";  // of adaptive pooling
  static constexpr const char* kSize = "size";               // of resize
  static constexpr int64_t kMostArea = int64_t{1} << 60;     // of a window with the elements that it steps over

  // ---- pooling ----

  static Problem checkPoolingWindow(const Layer& layer) {
    const std::vector<int64_t>& window = layer.ints("window");
    const size_t spatial = window.size();
    if (spatial < 1 || spatial > 3 || static_cast<int>(spatial) > layer.rank(0)) {
      return broken(spatial < 1 || spatial > 3 ? kNotSpatial : "the input has fewer dimensions than the window",
                    "a window over 1 to 3 dims of " + operandText(layer, 0), textOf(window));
    }
    Problem problem = checkList(layer, "window", spatial, 1);
    if (problem || (problem = checkWindowLists(layer, spatial))) {
      return problem;
    }
    Number area = 1;  // averages may be divided by it
    for (size_t i = 0; i < spatial; ++i) {
      area = area * (reachOf(layer, i) + 1);
    }
    return area <= kMostArea ? Problem()
                             : broken("its windows are too large", "a window over at most 2^60 elements",
                                      textOf(window) + " of dilation " + textOf(layer.ints("dilation")));
  }

  static Number reachOf(const Layer& layer, size_t spatial_dim) {
    return Number(layer.ints("dilation")[spatial_dim]) * (layer.ints("window")[spatial_dim] - 1);
  }

  static Problem checkAdaptivePoolingDType(const Layer& layer) {
    return layer.op() == "average" ? floatingInput(layer) : numericInput(layer);
  }

  static Problem checkPoolingDType(const Layer& layer) {
    return layer.dtype(0) == DType::kInt64 ? Problem() : checkAdaptivePoolingDType(layer);
  }

  static Problem checkPoolingPadding(const Layer& layer) {
    for (size_t i = 0; i < layer.ints("window").size(); ++i) {
      const Number reach = reachOf(layer, i);
      for (const char* name : {"pre_padding", "post_padding"}) {
        if (layer.ints(name)[i] > reach) {
          return broken("a padding is larger than its window",
                        "padding of at most dilation * (window - 1) = " + reach.toString(),
                        std::string(name) + " " + textOf(layer.ints(name)));
        }
      }
    }
    return {};
  }

  static Problem checkAverageDilation(const Layer& layer) {
    const std::vector<int64_t>& dilation = layer.ints("dilation");
    const bool dilated = std::any_of(dilation.begin(), dilation.end(), [](int64_t value) { return value != 1; });
    return layer.op() == "average" && dilated ? broken(kOutOfRange, "dilation 1 for average", textOf(dilation))
                                              : Problem();
  }

  static Problem checkDivisor(const Layer& layer) {
    const int64_t divisor = layer.attributes().getInt("divisor");
    return divisor >= 0 ? Problem()
                        : broken("the divisor is negative", "a divisor of at least 0", std::to_string(divisor));
  }

  static Problem checkIndices(const Layer& layer) {
    return layer.op() == "average" && layer.attributes().getBool("return_indices")
               ? broken("it has a wrong number of outputs", "return_indices only for max", "op \"average\"")
               : Problem();
  }

  static Dims pooledDims(const Layer& layer) {
    const std::vector<int64_t>& window = layer.ints("window");
    return withSpatial(layer.dims(0), static_cast<int>(window.size()), [&](const D& input, int i) {
      return poolingSize(input, windowAt(layer, i, D(window[static_cast<size_t>(i)])),
                         layer.attributes().getBool("ceil_mode"));
    });
  }

  static Problem checkPoolingOutput(const Layer& layer) {
    return checkOutputSize(layer, pooledDims(layer), static_cast<int>(layer.ints("window").size()), 1, kWindowTooLarge);
  }

  static Types withIndices(const Layer& layer, const Dims& dims) {
    Types types{{layer.dtype(0), dims}};
    if (layer.attributes().getBool("return_indices")) {
      types.push_back({DType::kInt64, dims});
    }
    return types;
  }

  static Types pooling(const Layer& layer) {
    return withIndices(layer, pooledDims(layer));
  }

  // ---- of given sizes: adaptive pooling and resize ----

  static Problem checkSizes(const Layer& layer, const char* attribute) {
    const Dims& sizes = layer.dimsOf(attribute);
    if (sizes.rank() < 1 || sizes.rank() > 3 || sizes.rank() > layer.rank(0)) {
      return broken(kNotSpatial, "sizes for the last 1 to 3 dims of " + operandText(layer, 0),
                    std::string(attribute) + " " + sizes.toString());
    }
    return notNegative(layer, attribute);
  }

  static Problem checkEmpty(const Layer& layer, const char* attribute) {
    const Dims& sizes = layer.dimsOf(attribute);
    for (int i = 0; i < sizes.rank(); ++i) {
      if (layer.most(layer.dims(0)[layer.rank(0) - sizes.rank() + i]) < 1 && layer.least(sizes[i]) > 0) {
        return broken("a spatial dimension of the input is empty", "elements to take " + sizes.toString() + " from",
                      operandText(layer, 0));
      }
    }
    return {};
  }

  static Dims resized(const Layer& layer, const char* attribute) {
    const Dims& sizes = layer.dimsOf(attribute);
    return withSpatial(layer.dims(0), sizes.rank(), [&](const D&, int i) { return sizes[i]; });
  }

  static Types adaptivePooling(const Layer& layer) {
    return withIndices(layer, resized(layer, kOutputSize));
  }

  static Problem checkResizeMode(const Layer& layer) {
    const std::string& mode = layer.mode();
    const bool nearest = mode == "nearest" || mode == "nearest_exact";
    if (!nearest && !isFloating(layer.dtype(0)) && layer.dtype(0) != DType::kUInt8) {
      return broken(kUndefined, "a floating dtype or uint8 for mode " + mode, operandText(layer, 0));
    }
    if (nearest && layer.attributes().getBool("align_corners")) {
      return broken("its mode aligns no corners", "align_corners only for linear and cubic", "mode " + mode);
    }
    const int spatial = layer.dimsOf(kSize).rank();
    return mode == "cubic" && spatial != 2
               ? broken("its mode takes 2 dimensions", "2 sizes for mode cubic", std::to_string(spatial))
               : Problem();
  }

  static Problem checkScales(const Layer& layer) {
    const std::vector<double>& scales = layer.attributes().getDoubles("scales");
    const auto count = static_cast<size_t>(layer.dimsOf(kSize).rank());
    const bool counts = scales.empty() || scales.size() == count;
    const bool holds = counts && std::all_of(scales.begin(), scales.end(),
                                             [](double scale) { return std::isfinite(scale) && scale >= 0; });
    return holds ? Problem()
                 : broken(counts ? "a scale is negative or not finite" : "it has a wrong number of scales",
                          "no scales or " + std::to_string(count) + " of at least 0", std::to_string(scales.size()));
  }

  // ---- grid_sample ----

  static Problem checkGridRanks(const Layer& layer) {
    const int rank = layer.rank(0);
    return (rank == 4 || rank == 5) && layer.rank(1) == rank
               ? Problem()
               : broken(kWrongRank, "an input of rank 4 or 5 and a grid of the same",
                        operandText(layer, 0) + " and " + operandText(layer, 1));
  }

  static Problem checkGridDims(const Layer& layer) {
    const Dims& grid = layer.dims(1);
    const bool holds =
        layer.unify(grid[0], layer.dims(0)[0]) && layer.unify(grid[grid.rank() - 1], D(layer.rank(0) - 2));
    return holds ? Problem()
                 : broken("the grid does not fit its input", "a grid [N,...,spatial dims] for " + operandText(layer, 0),
                          grid.toString());
  }

  static Problem checkGridMode(const Layer& layer) {
    return layer.mode() == "cubic" && layer.rank(0) != 4
               ? broken(kWrongRank, "2 spatial dims for mode cubic", operandText(layer, 0))
               : Problem();
  }

  static Types gridSample(const Layer& layer) {
    std::vector<D> dims = {layer.dims(0)[0], layer.dims(0)[1]};
    const Dims& grid = layer.dims(1);
    dims.insert(dims.end(), grid.begin() + 1, grid.end() - 1);
    return {{layer.dtype(0), Dims(std::move(dims))}};
  }
};

}  // namespace torchtrt::layer_rules
