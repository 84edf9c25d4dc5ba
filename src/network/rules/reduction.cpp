// Rules of the kinds that fold or normalise along axes.
#include <algorithm>

#include "network/rules/checks.h"
#include "network/rules/rules.h"

namespace torchtrt::network {
namespace {

constexpr std::string_view kReductions[] = {"sum", "prod", "max", "min",   "avg",   "any",
                                            "all", "var",  "std", "norm1", "norm2", "logsumexp"};

std::string checkReduceOp(const LayerContext& context) {
  return isOneOf(context.op(), kReductions) ? ""
                                            : expectedGot("a reduction of the layer table", "\"" + context.op() + "\"");
}

std::string checkReduceDType(const LayerContext& context) {
  if (isOneOf(context.op(), {"any", "all", "max", "min"})) {
    return "";
  }
  return isOneOf(context.op(), {"sum", "prod"}) ? numericInput(context) : floatingInput(context);
}

std::string checkAxes(const LayerContext& context) {
  const std::vector<int64_t>& axes = context.ints("axes");
  const bool rising = std::adjacent_find(axes.begin(), axes.end(), std::greater_equal<>()) == axes.end();
  const bool holds = !axes.empty() && rising && axes.front() >= 0 && axes.back() < context.rank(0);
  return holds ? "" : expectedGot("one or more axes of " + operandText(context, 0) + " in rising order", textOf(axes));
}

std::string checkNotEmpty(const LayerContext& context) {
  if (context.op() != "max" && context.op() != "min") {
    return "";
  }
  for (const int64_t axis : context.ints("axes")) {
    if (context.range(context.dims(0)[static_cast<int>(axis)]).second < 1) {
      return expectedGot("elements along axis " + std::to_string(axis), operandText(context, 0));
    }
  }
  return "";
}

std::string checkK(const LayerContext& context) {
  const Dims& k = context.attributes().getDims("k");
  if (k.rank() != 1) {
    return expectedGot("one dim", "k " + k.toString());
  }
  const Dim room = context.dims(0)[static_cast<int>(context.attributes().getInt("axis"))] - k[0];
  return context.range(k[0]).second >= 0 && context.range(room).second >= 0
             ? ""
             : expectedGot("k between 0 and the axis of " + operandText(context, 0), k.toString());
}

std::string checkCumulativeDType(const LayerContext& context) {
  return context.op() == "logsumexp" ? floatingInput(context) : numericInput(context);
}

int64_t gatesOf(const std::string& op) {
  return op == "lstm" ? 4 : op == "gru" ? 3 : 1;
}

std::string checkRecurrentRanks(const LayerContext& context) {
  const int expected[] = {3, 2, 1, 2, 2};
  for (int i = 0; i < context.operands(); ++i) {
    if (context.has(i) && context.rank(i) != expected[i]) {
      return expectedGot("rank " + std::to_string(expected[i]), operandText(context, i));
    }
  }
  return "";
}

std::string checkRecurrentDims(const LayerContext& context) {
  const Dim hidden = context.dims(1)[1], gates = hidden * Dim(gatesOf(context.op()));
  const Dims state = {context.dims(0)[1], hidden};
  if (std::string problem = sameDims(context, 0, {context.dims(0)[0], state[0], gates}); !problem.empty()) {
    return problem;
  }
  if (std::string problem = sameDims(context, 1, {gates, hidden}); !problem.empty()) {
    return problem;
  }
  for (int i = 2; i < context.operands(); ++i) {
    if (std::string problem = sameDims(context, i, i == 2 ? Dims{gates} : state); !problem.empty()) {
      return problem;
    }
  }
  return "";
}

std::string checkState(const LayerContext& context) {
  const bool has_state = context.operands() > 3 && context.has(3);
  return has_state ? "" : expectedGot("a state as operand 3", std::to_string(context.operands()) + " operands");
}

std::string checkCell(const LayerContext& context) {
  const bool has_cell = context.operands() > 4 && context.has(4);
  return has_cell == (context.op() == "lstm")
             ? ""
             : expectedGot(has_cell ? "no cell for " + context.op() : "a cell for lstm",
                           std::to_string(context.operands()) + " operands");
}

struct Mode {
  const std::string& name;
  explicit Mode(const LayerContext& context) : name(context.attributes().getString("mode")) {}
  bool overLastDims() const {
    return name == "layer" || name == "rms";
  }
};

std::string checkNormalizationRank(const LayerContext& context) {
  const Mode mode(context);
  const int64_t normalized = context.attributes().getInt("normalized_rank");
  if (mode.overLastDims() && (normalized < 1 || normalized > context.rank(0))) {
    return expectedGot("normalized_rank between 1 and the rank of " + operandText(context, 0),
                       std::to_string(normalized));
  }
  const int smallest = mode.overLastDims() ? 1 : 2;
  return context.rank(0) >= smallest
             ? ""
             : expectedGot("an input of rank " + std::to_string(smallest) + " or more for mode " + mode.name,
                           operandText(context, 0));
}

std::string checkGroups(const LayerContext& context) {
  if (Mode(context).name != "group") {
    return "";
  }
  const int64_t groups = context.attributes().getInt("groups");
  const Dim left = groups < 1 ? Dim(1) : Dim::mod(context.dims(0)[1], groups);
  return left.isConstant() && left.constant() != 0
             ? expectedGot("groups that divide the channels of " + operandText(context, 0), std::to_string(groups))
             : "";
}

std::string checkStatistics(const LayerContext& context) {
  const bool given = context.has(3) && context.has(4);
  const bool absent = !context.has(3) && !context.has(4);
  const bool batch = Mode(context).name == "batch";
  return (batch ? given : absent)
             ? ""
             : expectedGot(batch ? "mean and variance for mode batch" : "mean and variance only for mode batch",
                           given ? "both" : (absent ? "none" : "one of them"));
}

std::string checkParameters(const LayerContext& context) {
  const Dims& input = context.dims(0);
  Dims expected{};
  if (Mode(context).overLastDims()) {
    expected = Dims(std::vector<Dim>(input.end() - context.attributes().getInt("normalized_rank"), input.end()));
  } else {
    expected = Dims{input[1]};
  }
  for (int i = 1; i < context.operands(); ++i) {
    if (std::string problem = sameDims(context, i, expected); !problem.empty()) {
      return problem;
    }
  }
  return "";
}

std::string checkEps(const LayerContext& context) {
  const double eps = context.attributes().getDouble("eps");
  return eps >= 0 ? "" : expectedGot("eps of at least 0", std::to_string(eps));
}

}  // namespace

Rules softMaxRules() {
  return {
      {"dtype", "the input is floating", floatingInput},
      {"axis", "the axis is one of the input's", axisInRange},
  };
}

Rules reduceRules() {
  return {
      {"op", "the operation is one of those above", checkReduceOp},
      {"dtype", "any, all, max and min take every dtype, sum and prod all but bool, the others floating ones",
       checkReduceDType},
      {"axes", "there is at least one axis, and they rise", checkAxes},
      {"not-empty", "max and min have something to look at", checkNotEmpty},
  };
}

Rules topKRules() {
  return {
      {"dtype", "the input is numeric", numericInput},
      {"axis", "the axis is one of the input's", axisInRange},
      {"k", "k is one dim between 0 and the axis", checkK},
  };
}

Rules cumulativeRules() {
  return {
      {"dtype", "the input is numeric, for logsumexp floating", checkCumulativeDType},
      {"axis", "the axis is one of the input's", axisInRange},
  };
}

Rules recurrentRules() {
  return {
      {"dtype", "the input is floating", floatingInput},
      {"one-dtype", "all operands have one dtype", oneDType},
      {"state", "there is a state", checkState},
      {"rank", "input, weights, bias, state and cell have ranks 3, 2, 1, 2 and 2", checkRecurrentRanks},
      {"dims", "the dims are those above for one T, N, H and the number of gates", checkRecurrentDims},
      {"cell", "there is a cell in op lstm alone", checkCell},
  };
}

Rules normalizationRules() {
  return {
      {"dtype", "the input is floating", floatingInput},
      {"one-dtype", "all operands have one dtype", oneDType},
      {"rank", "batch, instance and group have a channel axis; normalized_rank is between 1 and the rank",
       checkNormalizationRank},
      {"groups", "in mode group the groups divide the channels", checkGroups},
      {"statistics", "mean and variance are there in mode batch and absent in the others", checkStatistics},
      {"parameters", "the other operands have one element per channel, or the normalized dims in modes layer and rms",
       checkParameters},
      {"eps", "eps is not negative", checkEps},
      {"activation", "a fused activation is one of ACTIVATION that takes the output's dtype", fusedActivation},
  };
}

}  // namespace torchtrt::network
