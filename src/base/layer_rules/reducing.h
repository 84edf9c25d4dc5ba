// Kinds that combine elements along axes: matrix multiplication, softmax, reduce, normalization, topk, cumulative,
// recurrent.
#pragma once

#include <algorithm>
#include <functional>

#include "base/layer_rules/rule.h"

namespace torchtrt::layer_rules {

template <typename D>
class ReducingRules {
 public:
  using Layer = LayerView<D>;
  using Dims = typename Layer::Dims;
  using Types = typename Layer::Types;

  static std::vector<Kind<D>> kinds() {
    const Rule<D> floating = {"dtype", "the input is floating", floatingInput};
    const Rule<D> one_dtype = {"one-dtype", "all operands have one dtype", oneDType};
    const Rule<D> axis = {"axis", "the axis is one of the input's", axisInRange};
    const Rule<D> activation = {"activation", kFusedActivation, fusedActivation};
    return {
        {"matrix_multiply",
         {
             {"rank", "both operands have rank 2 or more", checkMatrixRanks},
             {"dtype", "the operands are numeric", numericInput},
             one_dtype,
             {"inner", "the inner dims are equal", checkInner},
             {"batch", "the leading dims broadcast", checkBatches},
             {"bias", "the bias broadcasts to the output", checkMatrixBias},
             {"residual", "the residual has the output's dims", checkMatrixResidual},
             activation,
         },
         [](const Layer& layer) {
           return Types{{layer.dtype(0), multiplied(layer)}};
         }},
        {"softmax", {floating, axis}, sameAsInput},
        {"reduce",
         {
             {"op", "the operation is one of those above", checkReduceOp},
             {"dtype", "any, all, max and min take every dtype, sum and prod all but bool, the others floating ones",
              checkReduceDType},
             {"axes", "there is at least one axis, and they rise", checkAxes},
             {"not-empty", "max and min have something to look at", checkNotEmpty},
         },
         reduce},
        {"normalization",
         {
             floating,
             one_dtype,
             {"rank", "batch, instance and group have a channel axis; normalized_rank is between 1 and the rank",
              checkNormalizationRank},
             {"groups", "in mode group the groups divide the channels", checkGroups},
             {"statistics", "mean and variance are there in mode batch and absent in the others", checkStatistics},
             {"parameters",
              "the other operands have one element per channel, or the normalized dims in modes layer and rms",
              checkParameters},
             {"eps", "eps is not negative", checkEps},
             activation,
         },
         sameAsInput},
        {"topk",
         {
             {"dtype", "the input is numeric", numericInput},
             axis,
             {"k", "k is one dim between 0 and the axis", checkK},
         },
         topK},
        {"cumulative",
         {
             {"dtype", "the input is numeric, for logsumexp floating", checkCumulativeDType},
             axis,
         },
         cumulative},
        {"recurrent",
         {
             floating,
             one_dtype,
             {"state", "there is a state", checkState},
             {"rank", "input, weights, bias, state and cell have ranks 3, 2, 1, 2 and 2", checkRecurrentRanks},
             {"dims", "the dims are those above for one T, N, H and the number of gates", checkRecurrentDims},
             {"cell", "there is a cell in op lstm alone", checkCell},
         },
         recurrent},
    };
  }

 private:
  static bool hasOp(const Layer& layer, std::initializer_list<std::string_view> ops) {
    return std::find(ops.begin(), ops.end(), layer.op()) != ops.end();
  }

  // ---- matrix_multiply ----

  static Problem checkMatrixRanks(const Layer& layer) {
    for (int i = 0; i < 2; ++i) {
      if (layer.rank(i) < 2) {
        return broken("an operand has fewer than 2 dimensions", "operands of rank 2 or more", operandText(layer, i));
      }
    }
    return {};
  }

  // Dim number `place`, 1 or 2 from the end, of an operand as it is multiplied.
  static const D& matrixDim(const Layer& layer, int operand, int place) {
    const bool transposed = layer.attributes().getBool(operand == 0 ? "transpose_a" : "transpose_b");
    return layer.dims(operand)[layer.rank(operand) - (transposed ? 3 - place : place)];
  }

  static Problem checkInner(const Layer& layer) {
    const D& inner_a = matrixDim(layer, 0, 1);
    const D& inner_b = matrixDim(layer, 1, 2);
    return layer.unify(inner_a, inner_b) ? Problem()
                                         : broken(kOtherInner, "equal inner dims",
                                                  inner_a.toString() + " and " + inner_b.toString() + " of " +
                                                      operandText(layer, 0) + " and " + operandText(layer, 1));
  }

  static typename Layer::Broadcast batches(const Layer& layer) {
    const auto batch = [&](int i) { return Dims(std::vector<D>(layer.dims(i).begin(), layer.dims(i).end() - 2)); };
    return layer.broadcast(batch(0), batch(1));
  }

  static Problem checkBatches(const Layer& layer) {
    return broadcasts(batches(layer), "leading dims that broadcast");
  }

  static Dims multiplied(const Layer& layer) {
    std::vector<D> dims = batches(layer).dims.vec();
    dims.push_back(matrixDim(layer, 0, 2));
    dims.push_back(matrixDim(layer, 1, 1));
    return Dims(std::move(dims));
  }

  static Problem checkMatrixBias(const Layer& layer) {
    return layer.has(2) ? broadcastsTo(layer, 2, multiplied(layer), "a bias that broadcasts to ") : Problem();
  }

  static Problem checkMatrixResidual(const Layer& layer) {
    return sameDims(layer, 3, multiplied(layer), kOtherResidual);
  }

  // ---- reduce ----

  static Problem checkReduceOp(const Layer& layer) {
    return hasOp(layer, {"sum", "prod", "max", "min", "avg", "any", "all", "var", "std", "norm1", "norm2", "logsumexp"})
               ? Problem()
               : unknownWord("operation", layer.op(), "a reduction of the layer table", quoted(layer.op()));
  }

  static Problem checkReduceDType(const Layer& layer) {
    if (hasOp(layer, {"any", "all", "max", "min"})) {
      return {};
    }
    return hasOp(layer, {"sum", "prod"}) ? numericInput(layer) : floatingInput(layer);
  }

  static Problem checkAxes(const Layer& layer) {
    const std::vector<int64_t>& axes = layer.ints("axes");
    const bool rising = std::adjacent_find(axes.begin(), axes.end(), std::greater_equal<>()) == axes.end();
    if (!axes.empty() && rising && axes.front() >= 0 && axes.back() < layer.rank(0)) {
      return {};
    }
    return broken(axes.empty() || !std::is_sorted(axes.begin(), axes.end()) ? "its axes are not sorted or missing"
                                                                            : "an axis is out of range or given twice",
                  "one or more axes of " + operandText(layer, 0) + " in rising order", textOf(axes));
  }

  static Problem checkNotEmpty(const Layer& layer) {
    if (!kIsSymbolic<D> || !hasOp(layer, {"max", "min"})) {  // the kernels of a plan say so themselves
      return {};
    }
    for (const int64_t axis : layer.ints("axes")) {
      if (layer.most(layer.dims(0)[static_cast<int>(axis)]) < 1) {
        return broken("", "elements along axis " + std::to_string(axis), operandText(layer, 0));
      }
    }
    return {};
  }

  static Types reduce(const Layer& layer) {
    const std::vector<int64_t>& axes = layer.ints("axes");
    const bool keep_dims = layer.attributes().getBool("keep_dims");
    std::vector<D> dims;
    for (int i = 0; i < layer.rank(0); ++i) {
      const bool reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
      if (!reduced || keep_dims) {
        dims.push_back(reduced ? D(1) : layer.dims(0)[i]);
      }
    }
    return {{hasOp(layer, {"any", "all"}) ? DType::kBool : layer.dtype(0), Dims(std::move(dims))}};
  }

  // ---- normalization ----

  static bool isOverLastDims(const Layer& layer) {
    return layer.mode() == "layer" || layer.mode() == "rms";
  }

  static Problem checkNormalizationRank(const Layer& layer) {
    const bool over_last_dims = isOverLastDims(layer);
    const int64_t normalized = layer.attributes().getInt("normalized_rank");
    if (over_last_dims && (normalized < 1 || normalized > layer.rank(0))) {
      return broken("it normalizes more dimensions than there are",
                    "normalized_rank between 1 and the rank of " + operandText(layer, 0), std::to_string(normalized));
    }
    const int smallest = over_last_dims ? 1 : 2;
    return layer.rank(0) >= smallest
               ? Problem()
               : broken("its input has no channels",
                        "an input of rank " + std::to_string(smallest) + " or more for mode " + layer.mode(),
                        operandText(layer, 0));
  }

  static Problem checkGroups(const Layer& layer) {
    const int64_t groups = layer.attributes().getInt("groups");
    const bool holds =
        layer.mode() != "group" || (groups >= 1 && layer.unify(D::mod(layer.dims(0)[1], groups), D(0)).has_value());
    return holds ? Problem()
                 : broken(kUndividedChannels, "groups that divide the channels of " + operandText(layer, 0),
                          std::to_string(groups));
  }

  static Problem checkStatistics(const Layer& layer) {
    const bool given = layer.has(3) && layer.has(4);
    const bool absent = !layer.has(3) && !layer.has(4);
    const bool batch = layer.mode() == "batch";
    return (batch ? given : absent)
               ? Problem()
               : broken(batch ? "mean or variance is missing" : "only mode batch has a mean and a variance",
                        batch ? "mean and variance for mode batch" : "mean and variance only for mode batch",
                        given ? "both" : (absent ? "none" : "one of them"));
  }

  static Problem checkParameters(const Layer& layer) {
    const Dims& input = layer.dims(0);
    const Dims expected =
        isOverLastDims(layer)
            ? Dims(std::vector<D>(input.end() - layer.attributes().getInt("normalized_rank"), input.end()))
            : Dims{input[1]};
    for (int i = 1; i < layer.operands(); ++i) {
      if (Problem problem = sameDims(layer, i, expected, "an operand has not the normalized dimensions")) {
        return problem;
      }
    }
    return {};
  }

  static Problem checkEps(const Layer& layer) {
    const double eps = layer.attributes().getDouble("eps");
    return eps >= 0 ? Problem() : broken("eps is negative", "eps of at least 0", std::to_string(eps));
  }

  // ---- topk and cumulative ----

  static Problem checkK(const Layer& layer) {
    const char* const damage = "k is larger than the axis";
    const Dims& k = layer.dimsOf("k");
    if (k.rank() != 1) {
      return broken(damage, "one dim", "k " + k.toString());
    }
    return layer.most(k[0]) >= 0 && layer.most(layer.dims(0)[layer.axis()] - k[0]) >= 0
               ? Problem()
               : broken(damage, "k between 0 and the axis of " + operandText(layer, 0), k.toString());
  }

  static Types topK(const Layer& layer) {
    Dims dims = layer.dims(0);
    dims[layer.axis()] = layer.dimsOf("k")[0];
    return {{layer.dtype(0), dims}, {DType::kInt64, dims}};
  }

  static Problem checkCumulativeDType(const Layer& layer) {
    return layer.op() == "logsumexp" ? floatingInput(layer) : numericInput(layer);
  }

  static Types cumulative(const Layer& layer) {
    Types types = sameAsInput(layer);
    if (hasOp(layer, {"max", "min"})) {
      types.push_back({DType::kInt64, layer.dims(0)});
    }
    return types;
  }

  // ---- recurrent ----

  static Problem checkState(const Layer& layer) {
    return layer.has(3)
               ? Problem()
               : broken("the state is missing", "a state as operand 3", std::to_string(layer.operands()) + " operands");
  }

  static Problem checkRecurrentRanks(const Layer& layer) {
    const int expected[] = {3, 2, 1, 2, 2};
    for (int i = 0; i < layer.operands(); ++i) {
      if (layer.has(i) && layer.rank(i) != expected[i]) {
        return broken(kWrongRank, "rank " + std::to_string(expected[i]), operandText(layer, i));
      }
    }
    return {};
  }

  static Dims stateDims(const Layer& layer) {
    return {layer.dims(0)[1], layer.dims(1)[1]};
  }

  static Problem checkRecurrentDims(const Layer& layer) {
    const D& hidden = layer.dims(1)[1];
    const D gates = hidden * D(layer.op() == "lstm" ? 4 : layer.op() == "gru" ? 3 : 1);
    const Dims state = stateDims(layer);
    for (int i = 0; i < layer.operands(); ++i) {
      const Dims expected = i == 0   ? Dims{layer.dims(0)[0], state[0], gates}
                            : i == 1 ? Dims{gates, hidden}
                            : i == 2 ? Dims{gates}
                                     : state;
      if (Problem problem = sameDims(layer, i, expected,
                                     i < 2 ? "its input or weights have not the gates' dimensions"
                                           : "an operand has not the state's dimensions")) {
        return problem;
      }
    }
    return {};
  }

  static Problem checkCell(const Layer& layer) {
    const bool has_cell = layer.has(4);
    return has_cell == (layer.op() == "lstm")
               ? Problem()
               : broken("only lstm has a cell", has_cell ? "no cell for " + layer.op() : "a cell for lstm",
                        std::to_string(layer.operands()) + " operands");
  }

  static Types recurrent(const Layer& layer) {
    const Dims state = stateDims(layer);
    Types types(layer.op() == "lstm" ? 3 : 2, {layer.dtype(0), state});
    types[0].dims = {layer.dims(0)[0], state[0], state[1]};
    return types;
  }
};

}  // namespace torchtrt::layer_rules
