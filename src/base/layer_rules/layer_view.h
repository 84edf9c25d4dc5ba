// A layer as its rules see it: operands, attributes, and the comparison of dims. `D` is Dim for the layers of a
// network, where a rule holds if some values of the symbols keep it, and Number for the steps of a plan.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/layer_rules/number.h"
#include "torchtrt/types.h"

namespace torchtrt::layer_rules {

template <typename D>
inline constexpr bool kIsSymbolic = std::is_same_v<D, Dim>;

template <typename D>
class LayerView {
 public:
  using Dims = std::conditional_t<kIsSymbolic<D>, torchtrt::Dims, Numbers>;
  using Type = std::conditional_t<kIsSymbolic<D>, TensorType, NumbersType>;
  using Types = std::vector<Type>;

  virtual ~LayerView() = default;

  virtual int operands() const = 0;
  virtual bool has(int operand) const = 0;  // false if it is absent, or behind the last
  virtual DType dtype(int operand) const = 0;
  virtual const Dims& dims(int operand) const = 0;
  virtual const Attributes& attributes() const = 0;                    // use dimsOf() for those of type dims
  virtual const Dims* findDims(std::string_view attribute) const = 0;  // null if the layer has none
  virtual std::pair<int64_t, int64_t> range(const D& dim) const = 0;   // the smallest and the largest value
  virtual void noteUndecided(const D& /*a*/, const D& /*b*/) const {}  // of which each may be 1 or not

  int rank(int operand) const {
    return dims(operand).rank();
  }
  const Dims& dimsOf(std::string_view attribute) const {
    const Dims* const dims = findDims(attribute);
    TORCHTRT_CHECK(dims != nullptr, "the layer has no attribute '" << attribute << "'");
    return *dims;
  }
  const std::string& op() const {
    return attributes().getString("op");
  }
  const std::string& mode() const {
    return attributes().getString("mode");
  }
  const std::vector<int64_t>& ints(std::string_view name) const {
    return attributes().getInts(name);
  }
  int axis() const {  // of a layer that has passed the rule "axis"
    return static_cast<int>(attributes().getInt("axis"));
  }
  int64_t least(const D& dim) const {
    return range(dim).first;
  }
  int64_t most(const D& dim) const {
    return range(dim).second;
  }

  // The dim that both are, where they must be equal: a number wins. Nothing if they never are.
  std::optional<D> unify(const D& a, const D& b) const {
    if (a == b) {
      return a;
    }
    const auto [low_a, high_a] = range(a);
    const auto [low_b, high_b] = range(b);
    const auto [low, high] = range(a - b);
    if (high_a < low_b || high_b < low_a || low > 0 || high < 0) {
      return std::nullopt;
    }
    if constexpr (kIsSymbolic<D>) {
      return b.isConstant() ? b : a;
    }
    return a;
  }

  std::optional<Dims> unify(const Dims& a, const Dims& b) const {
    if (a.rank() != b.rank()) {
      return std::nullopt;
    }
    std::vector<D> dims;
    for (int i = 0; i < a.rank(); ++i) {
      const std::optional<D> dim = unify(a[i], b[i]);
      if (!dim) {
        return std::nullopt;
      }
      dims.push_back(*dim);
    }
    return Dims(std::move(dims));
  }

  // The shape that both broadcast to (NumPy's rules), or why there is none.
  struct Broadcast {
    Dims dims;
    std::string problem;
  };
  Broadcast broadcast(const Dims& a, const Dims& b) const {
    const int rank = std::max(a.rank(), b.rank());
    std::vector<D> dims;
    for (int i = 0; i < rank; ++i) {
      const int at_a = i - (rank - a.rank());
      const int at_b = i - (rank - b.rank());
      const DimBroadcast dim = broadcastDim(at_a < 0 ? D(1) : a[at_a], at_b < 0 ? D(1) : b[at_b]);
      if (dim.problem != nullptr) {
        return {{},
                a.toString() + " and " + b.toString() + " whose dims " + a[at_a].toString() + " and " +
                    b[at_b].toString() + " " + dim.problem};
      }
      dims.push_back(dim.dim);
    }
    return {Dims(std::move(dims)), ""};
  }

  // True if `from` broadcasts to exactly `to`.
  bool broadcastsTo(const Dims& from, const Dims& to) const {
    const int offset = to.rank() - from.rank();
    if (offset < 0) {
      return false;
    }
    for (int i = 0; i < from.rank(); ++i) {
      const auto [low, high] = range(from[i]);
      const bool may_be_one = low <= 1 && high >= 1;
      if (!may_be_one && !unify(from[i], to[i + offset])) {
        return false;
      }
    }
    return true;
  }

 private:
  struct DimBroadcast {
    D dim;
    const char* problem;
  };
  DimBroadcast broadcastDim(const D& a, const D& b) const {
    if (a == b || b == D(1)) {
      return {a, nullptr};
    }
    if (a == D(1)) {
      return {b, nullptr};
    }
    const auto [low_a, high_a] = range(a);
    const auto [low_b, high_b] = range(b);
    const bool may_be_one_a = low_a <= 1 && high_a >= 1;
    const bool may_be_one_b = low_b <= 1 && high_b >= 1;
    if (!may_be_one_a && !may_be_one_b) {
      const std::optional<D> both = unify(a, b);
      return both ? DimBroadcast{*both, nullptr} : DimBroadcast{D(0), "differ and neither is 1"};
    }
    if (may_be_one_a && may_be_one_b) {
      noteUndecided(a, b);
      return {D(0), "may each be 1 or not, so the result is not known"};
    }
    // One of them is never 1, so it is the result, whether the other is 1 or equal to it.
    return {may_be_one_a ? b : a, nullptr};
  }
};

}  // namespace torchtrt::layer_rules
