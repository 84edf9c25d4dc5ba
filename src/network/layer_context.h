// A layer as rules and inference see it: operands' types, attributes, and what the symbols' ranges say about dims. Both
// assume that the operands' types are known; rules additionally assume the rules listed before them, inference all of
// them.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "torchtrt/network.h"

namespace torchtrt::network {

class LayerContext {
 public:
  explicit LayerContext(const Layer& layer) : layer_(layer) {}

  const Layer& layer() const {
    return layer_;
  }
  const Attributes& attributes() const {
    return layer_.attributes();
  }
  int operands() const {
    return layer_.getNbInputs();
  }
  bool has(int i) const {
    return layer_.getInput(i) != nullptr;
  }
  const Dims& dims(int i) const {
    return layer_.getInput(i)->getDimensions();
  }
  int rank(int i) const {
    return dims(i).rank();
  }
  DType dtype(int i) const {
    return layer_.getInput(i)->getType();
  }
  const std::string& op() const {
    return attributes().getString("op");
  }
  const std::vector<int64_t>& ints(std::string_view name) const {
    return attributes().getInts(name);
  }

  // Smallest and largest value for the symbols' ranges. A symbol that nobody declared may be any dimension.
  std::pair<int64_t, int64_t> range(const Dim& dim) const;
  // The dim that both are, where they must be equal: a number wins. Nothing if the ranges say that they never are.
  std::optional<Dim> unify(const Dim& a, const Dim& b) const;
  std::optional<Dims> unify(const Dims& a, const Dims& b) const;

  // The shape that both broadcast to (NumPy's rules), or why there is none.
  struct Broadcast {
    Dims dims;
    std::string problem;
  };
  Broadcast broadcast(const Dims& a, const Dims& b) const;
  // Whether `from` broadcasts to exactly `to`.
  bool broadcastsTo(const Dims& from, const Dims& to) const;
  // The last two dims that broadcast() could not tell apart from 1, if there were any.
  const std::optional<std::pair<Dim, Dim>>& undecided() const {
    return undecided_;
  }

 private:
  struct DimBroadcast {
    Dim dim;
    const char* problem;
  };
  DimBroadcast broadcastDim(const Dim& a, const Dim& b) const;

  const Layer& layer_;
  mutable std::optional<std::pair<Dim, Dim>> undecided_;
};

}  // namespace torchtrt::network
