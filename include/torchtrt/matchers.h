// Matchers: values that describe the shape of a pattern, compose, capture what they met and can say why they did not
// match.
//
//   const Layer* conv = nullptr;
//   auto pattern = m::layer(LayerType::kELEMENTWISE).op("sum").input(0, m::convolution().oneUse().capture(&conv));
//   if (m::match(layer, pattern)) ...
//
// They only read. Captures are written as matching proceeds and mean nothing when the match failed as a whole.
#pragma once

#include <cmath>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "torchtrt/export.h"
#include "torchtrt/network.h"

namespace torchtrt::rewriting::m {

using network::Layer;
using network::LayerType;
using network::Tensor;
using network::Weights;

// Why a match failed: the innermost reason with the way to it. A null pointer means nobody asks, and no text is built.
class Failure {
 public:
  template <typename... Parts>
  static bool note(Failure* failure, const Parts&... parts) {
    if (failure) {
      std::ostringstream stream;
      (stream << ... << parts);
      failure->text_ = stream.str();
    }
    return false;
  }
  static bool within(Failure* failure, const std::string& place) {
    if (failure) {
      failure->text_ = place + ": " + failure->text_;
    }
    return false;
  }
  const std::string& text() const {
    return text_;
  }

 private:
  std::string text_;
};

// The uses of a tensor, each network output counted as one.
TORCHTRT_API size_t countUses(const Tensor& tensor);
// The layers that read an output of this one, each once, in order of first use.
TORCHTRT_API std::vector<Layer*> usersOf(const Layer& layer);
// The value of a constant tensor all of whose elements are equal to one another; nothing for empty tensors.
TORCHTRT_API std::optional<double> uniformValue(const Tensor& tensor);
// "scope/line" style label of a layer for explanations: kind and name.
TORCHTRT_API std::string label(const Layer& layer);

// A layer of some kind whose conditions all hold.
template <typename... Checks>
class LayerMatcher {
 public:
  explicit LayerMatcher(std::tuple<Checks...> checks) : checks_(std::move(checks)) {}

  bool matches(const Layer& layer, Failure* failure) const {
    return std::apply([&](const Checks&... checks) { return (checks(layer, failure) && ...); }, checks_);
  }
  // Matches an operand: the tensor is the first output of such a layer.
  bool matchesTensor(const Tensor* tensor, Failure* failure) const {
    if (!tensor) {
      return Failure::note(failure, "the operand is absent");
    }
    if (!tensor->producer() || tensor->outputIndex() != 0) {
      return Failure::note(failure, "tensor '", tensor->getName(), "' is no layer's first output");
    }
    return matches(*tensor->producer(), failure);
  }

  // A condition of the caller's own; `reason` completes "layer 'x' ...".
  template <typename Predicate>
  auto where(std::string reason, Predicate predicate) const {
    return with([reason = std::move(reason), predicate](const Layer& layer, Failure* failure) {
      return predicate(layer) || Failure::note(failure, label(layer), " ", reason);
    });
  }
  auto op(std::string expected) const {
    return with([expected = std::move(expected)](const Layer& layer, Failure* failure) {
      const AttributeValue* value = layer.attributes().find("op");
      const std::string* op = value ? std::get_if<std::string>(value) : nullptr;
      return (op && *op == expected) ||
             Failure::note(failure, label(layer), " has op '", op ? *op : "", "', expected '", expected, "'");
    });
  }
  auto mode(std::string expected) const {
    return attribute("mode", AttributeValue(std::move(expected)));
  }
  auto attribute(std::string name, AttributeValue expected) const {
    return with([name = std::move(name), expected = std::move(expected)](const Layer& layer, Failure* failure) {
      const AttributeValue* value = layer.attributes().find(name);
      return (value && *value == expected) || Failure::note(failure, label(layer), " has another '", name, "'");
    });
  }
  // Exactly one layer or network output reads the first output, so the layer may be absorbed.
  auto oneUse() const {
    return with([](const Layer& layer, Failure* failure) {
      const size_t uses = countUses(*layer.getOutput(0));
      return uses == 1 || Failure::note(failure, label(layer), " has ", uses, " uses, expected 1");
    });
  }
  // No activation was fused into the layer yet.
  auto noActivation() const {
    return with([](const Layer& layer, Failure* failure) {
      const std::string activation = layer.attributes().getString("activation", "");
      return activation.empty() || Failure::note(failure, label(layer), " already applies '", activation, "'");
    });
  }
  template <typename Matcher>
  auto input(int index, Matcher matcher) const {
    return with([index, matcher = std::move(matcher)](const Layer& layer, Failure* failure) {
      return matcher.matchesTensor(layer.getInput(index), failure) ||
             Failure::within(failure, label(layer) + " input " + std::to_string(index));
    });
  }
  // Operands 0 and 1 match a and b, in either order. Only for operators where the order does not matter.
  template <typename A, typename B>
  auto eitherWay(A a, B b) const {
    return with([a = std::move(a), b = std::move(b)](const Layer& layer, Failure* failure) {
      return (a.matchesTensor(layer.getInput(0), failure) && b.matchesTensor(layer.getInput(1), failure)) ||
             (a.matchesTensor(layer.getInput(1), failure) && b.matchesTensor(layer.getInput(0), failure)) ||
             Failure::within(failure, label(layer) + " inputs in either order");
    });
  }
  auto capture(const Layer** where) const {
    return with([where](const Layer& layer, Failure*) {
      *where = &layer;
      return true;
    });
  }
  auto captureOutput(Tensor** where) const {
    return with([where](const Layer& layer, Failure*) {
      *where = layer.getOutput(0);
      return true;
    });
  }

 private:
  template <typename Check>
  auto with(Check check) const {
    return LayerMatcher<Checks..., Check>(std::tuple_cat(checks_, std::tuple<Check>(std::move(check))));
  }

  std::tuple<Checks...> checks_;
};

// A tensor with a condition.
template <typename Check>
class TensorMatcher {
 public:
  explicit TensorMatcher(Check check) : check_(std::move(check)) {}
  bool matchesTensor(Tensor* tensor, Failure* failure) const {
    return check_(tensor, failure);
  }

 private:
  Check check_;  // bool(Tensor*, Failure*)
};

inline auto layer(LayerType type) {
  auto check = [type](const Layer& candidate, Failure* failure) {
    return candidate.getType() == type ||
           Failure::note(failure, label(candidate), " is no ", network::layerInfo(type).name);
  };
  return LayerMatcher<decltype(check)>(std::tuple(check));
}
// A layer of one of several kinds.
template <typename... Types>
auto layerOf(Types... types) {
  auto check = [types...](const Layer& candidate, Failure* failure) {
    return ((candidate.getType() == types) || ...) || Failure::note(failure, label(candidate), " is of another kind");
  };
  return LayerMatcher<decltype(check)>(std::tuple(check));
}
inline auto convolution() {
  return layer(LayerType::kCONVOLUTION);
}
inline auto matrixMultiply() {
  return layer(LayerType::kMATRIX_MULTIPLY);
}
inline auto activation(std::string op) {
  return layer(LayerType::kACTIVATION).op(std::move(op));
}
inline auto unary(std::string op) {
  return layer(LayerType::kUNARY).op(std::move(op));
}
// An elementwise layer without a fused activation.
inline auto elementwise(std::string op) {
  return layer(LayerType::kELEMENTWISE).op(std::move(op)).noActivation();
}

// Any present tensor.
inline auto tensor(Tensor** capture = nullptr) {
  return TensorMatcher([capture](Tensor* candidate, Failure* failure) {
    if (!candidate) {
      return Failure::note(failure, "the operand is absent");
    }
    if (capture) {
      *capture = candidate;
    }
    return true;
  });
}
// The tensor that an earlier part of the same pattern captured.
inline auto same(Tensor* const* captured) {
  return TensorMatcher([captured](Tensor* candidate, Failure* failure) {
    return (candidate && candidate == *captured) || Failure::note(failure, "the operand is another tensor");
  });
}
inline auto absent() {
  return TensorMatcher([](Tensor* candidate, Failure* failure) {
    return !candidate || Failure::note(failure, "operand '", candidate->getName(), "' is present");
  });
}
// A tensor known when the network is built.
inline auto constant(Tensor** capture = nullptr) {
  return TensorMatcher([capture](Tensor* candidate, Failure* failure) {
    if (!candidate || !candidate->constant()) {
      return Failure::note(failure, "the operand is no constant");
    }
    if (capture) {
      *capture = candidate;
    }
    return true;
  });
}
// A constant whose elements all are `value` (to one part in a million: literals like 1/6 pass through float32).
inline auto scalar(double value) {
  return TensorMatcher([value](Tensor* candidate, Failure* failure) {
    const bool equal =
        candidate && std::abs(uniformValue(*candidate).value_or(std::nan("")) - value) <= 1e-6 * std::abs(value);
    return equal || Failure::note(failure, "the operand is no constant ", value);
  });
}

template <typename Matcher>
bool match(const Layer& root, const Matcher& matcher, std::string* why = nullptr) {
  Failure failure;
  const bool matched = matcher.matches(root, why ? &failure : nullptr);
  if (why) {
    *why = matched ? std::string() : failure.text();
  }
  return matched;
}

}  // namespace torchtrt::rewriting::m
