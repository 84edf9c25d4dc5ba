// The form of a kind's rules, and the checks that several kinds share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/layer_rules/layer_view.h"
#include "base/operations.h"

namespace torchtrt::layer_rules {

// The way in which a layer breaks a rule; false if it keeps the rule.
struct Problem {
  std::string text;              // "expected ..., got ...": for the author of a network
  std::string damage = {};       // completes "step 'x' (convolution): ": for the reader of a plan
  bool is_unknown_word = false;  // damage names a word that another version may know: "operation 'swish'"
  explicit operator bool() const {
    return !text.empty();
  }
};

template <typename D>
struct Rule {
  const char* name;
  const char* text;                             // the condition, one sentence without a final stop
  Problem (*check)(const LayerView<D>& layer);  // may assume all rules before it
};

// A kind of layer: its rules in order, and the types of its outputs, which may assume that all rules hold.
template <typename D>
struct Kind {
  const char* name;  // the layer table's
  std::vector<Rule<D>> rules;
  typename LayerView<D>::Types (*outputs)(const LayerView<D>& layer);
};

inline std::string expectedGot(const std::string& expected, const std::string& got) {
  return "expected " + expected + ", got " + got;
}

inline Problem broken(std::string damage, const std::string& expected, const std::string& got) {
  return {expectedGot(expected, got), std::move(damage)};
}

inline Problem unknownWord(const std::string& what, const std::string& word, const std::string& expected,
                           const std::string& got) {
  return {expectedGot(expected, got), what + " '" + word + "'", true};
}

inline std::string quoted(const std::string& word) {
  return "\"" + word + "\"";
}

inline std::string textOf(const std::vector<int64_t>& values) {
  return Dims::of(values).toString();
}

// "operand 1 float32[3, 4]"
template <typename D>
std::string operandText(const LayerView<D>& layer, int operand) {
  return "operand " + std::to_string(operand) + " " + toString(layer.dtype(operand)) + layer.dims(operand).toString();
}

inline constexpr const char* kUndefined = "its operation is not defined for the input's element type";
inline constexpr const char* kWrongRank = "its operands have a wrong rank";
inline constexpr const char* kOutOfRange = "an attribute is out of range";
inline constexpr const char* kUndividedChannels = "groups do not divide channels";
inline constexpr const char* kOtherInner = "the inner dimensions of its operands differ";
inline constexpr const char* kOtherResidual = "the residual has not the output's dimensions";
inline constexpr const char* kImpossibleSize = "its output has an impossible size";

template <typename D>
Problem floatingInput(const LayerView<D>& layer) {
  return isFloating(layer.dtype(0)) ? Problem()
                                    : broken("its input is not floating", "a floating dtype", operandText(layer, 0));
}

template <typename D>
Problem numericInput(const LayerView<D>& layer) {
  return layer.dtype(0) != DType::kBool ? Problem() : broken(kUndefined, "a numeric dtype", operandText(layer, 0));
}

// Checks that all present operands from operand `first` on have one dtype.
template <typename D>
Problem oneDTypeFrom(const LayerView<D>& layer, int first) {
  for (int i = first + 1; i < layer.operands(); ++i) {
    if (layer.has(i) && layer.dtype(i) != layer.dtype(first)) {
      return broken("its operands differ in element type",
                    toString(layer.dtype(first)) + (" as operand " + std::to_string(first)) + " is",
                    operandText(layer, i));
    }
  }
  return {};
}

template <typename D>
Problem oneDType(const LayerView<D>& layer) {
  return oneDTypeFrom(layer, 0);
}

template <typename D>
Problem axisInRange(const LayerView<D>& layer) {
  const int64_t axis = layer.attributes().getInt("axis");
  return axis >= 0 && axis < layer.rank(0) ? Problem()
                                           : broken("the axis is out of range", "an axis of " + operandText(layer, 0),
                                                    "axis " + std::to_string(axis));
}

// A fused activation, if there is one, is known.
template <typename D>
Problem knownActivation(const LayerView<D>& layer) {
  const std::string& activation = layer.attributes().getString("activation");
  return activation.empty() || findOperation(activations(), activation) != nullptr
             ? Problem()
             : unknownWord("activation", activation, "the name of an activation or nothing",
                           "activation " + quoted(activation));
}

// It also takes the dtype of the output.
template <typename D>
Problem fusedActivationOf(const LayerView<D>& layer, DType dtype) {
  const std::string& activation = layer.attributes().getString("activation");
  if (Problem problem = knownActivation(layer); activation.empty() || problem) {
    return problem;
  }
  return findOperation(activations(), activation)->takes(dtype)
             ? Problem()
             : broken("its activation is not defined for its output's element type",
                      "an activation that takes " + std::string(toString(dtype)), quoted(activation));
}

template <typename D>
Problem fusedActivation(const LayerView<D>& layer) {
  return fusedActivationOf(layer, layer.dtype(0));
}

inline constexpr const char* kFusedActivation = "a fused activation is one of ACTIVATION that takes the output's dtype";

// An attribute of type dims: in some call none of them is below 0.
template <typename D>
Problem notNegative(const LayerView<D>& layer, const char* attribute) {
  const auto& dims = layer.dimsOf(attribute);
  for (const D& dim : dims) {
    if (layer.most(dim) < 0) {
      return broken("a dimension is negative", "dims of at least 0", std::string(attribute) + " " + dims.toString());
    }
  }
  return {};
}

// Holds for an absent operand.
template <typename D>
Problem sameDims(const LayerView<D>& layer, int operand, const typename LayerView<D>::Dims& expected,
                 const char* damage) {
  return !layer.has(operand) || layer.unify(layer.dims(operand), expected)
             ? Problem()
             : broken(damage, "dims " + expected.toString(), operandText(layer, operand));
}

inline const char* cannotBroadcast(int from_rank, int to_rank) {
  return from_rank > to_rank ? "an operand has more dimensions than what it is broadcast to"
                             : "an operand cannot be broadcast";
}

template <typename D>
Problem broadcastsTo(const LayerView<D>& layer, int operand, const typename LayerView<D>::Dims& to,
                     const std::string& expected) {
  return layer.broadcastsTo(layer.dims(operand), to) ? Problem()
                                                     : broken(cannotBroadcast(layer.rank(operand), to.rank()),
                                                              expected + to.toString(), operandText(layer, operand));
}

// `result` is a Broadcast of a layer.
template <typename Broadcast>
Problem broadcasts(const Broadcast& result, const std::string& expected) {
  return result.problem.empty() ? Problem()
                                : broken("its operands cannot be broadcast to one shape", expected, result.problem);
}

template <typename D>
typename LayerView<D>::Types sameAsInput(const LayerView<D>& layer) {
  return {{layer.dtype(0), layer.dims(0)}};
}

}  // namespace torchtrt::layer_rules
