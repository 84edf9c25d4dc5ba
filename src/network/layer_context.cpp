// Symbolic comparison and broadcasting.
#include "network/layer_context.h"

#include <algorithm>
#include <limits>

namespace torchtrt::network {

std::pair<int64_t, int64_t> LayerContext::range(const Dim& dim) const {
  return dim.range([this](const std::string& name) {
    const Symbol* symbol = layer_.network()->findSymbol(name);
    return symbol != nullptr ? *symbol : Symbol{name, 0, 1, std::numeric_limits<int64_t>::max()};
  });
}

std::optional<Dim> LayerContext::unify(const Dim& a, const Dim& b) const {
  if (a == b) {
    return a;
  }
  const auto [low_a, high_a] = range(a);
  const auto [low_b, high_b] = range(b);
  const auto [low, high] = range(a - b);
  if (high_a < low_b || high_b < low_a || low > 0 || high < 0) {
    return std::nullopt;
  }
  return b.isConstant() ? b : a;
}

std::optional<Dims> LayerContext::unify(const Dims& a, const Dims& b) const {
  if (a.rank() != b.rank()) {
    return std::nullopt;
  }
  std::vector<Dim> dims;
  for (int i = 0; i < a.rank(); ++i) {
    const std::optional<Dim> dim = unify(a[i], b[i]);
    if (!dim) {
      return std::nullopt;
    }
    dims.push_back(*dim);
  }
  return Dims(std::move(dims));
}

LayerContext::DimBroadcast LayerContext::broadcastDim(const Dim& a, const Dim& b) const {
  if (a == b || b == Dim(1)) {
    return {a, nullptr};
  }
  if (a == Dim(1)) {
    return {b, nullptr};
  }
  const auto [low_a, high_a] = range(a);
  const auto [low_b, high_b] = range(b);
  const bool may_be_one_a = low_a <= 1 && high_a >= 1;
  const bool may_be_one_b = low_b <= 1 && high_b >= 1;
  if (!may_be_one_a && !may_be_one_b) {
    const std::optional<Dim> both = unify(a, b);
    return both ? DimBroadcast{*both, nullptr} : DimBroadcast{0, "differ and neither is 1"};
  }
  if (may_be_one_a && may_be_one_b) {
    undecided_ = {a, b};
    return {0, "may each be 1 or not, so the result is not known"};
  }
  // One of them is never 1, so it is the result, whether the other is 1 or equal to it.
  return {may_be_one_a ? b : a, nullptr};
}

LayerContext::Broadcast LayerContext::broadcast(const Dims& a, const Dims& b) const {
  const int rank = std::max(a.rank(), b.rank());
  std::vector<Dim> dims;
  for (int i = 0; i < rank; ++i) {
    const int at_a = i - (rank - a.rank());
    const int at_b = i - (rank - b.rank());
    const DimBroadcast dim = broadcastDim(at_a < 0 ? Dim(1) : a[at_a], at_b < 0 ? Dim(1) : b[at_b]);
    if (dim.problem != nullptr) {
      return {{},
              a.toString() + " and " + b.toString() + " whose dims " + a[at_a].toString() + " and " +
                  b[at_b].toString() + " " + dim.problem};
    }
    dims.push_back(dim.dim);
  }
  return {Dims(std::move(dims)), ""};
}

bool LayerContext::broadcastsTo(const Dims& from, const Dims& to) const {
  const int offset = to.rank() - from.rank();
  for (int i = 0; i < from.rank(); ++i) {
    const auto [low, high] = range(from[i]);
    const bool may_be_one = low <= 1 && high >= 1;
    if (offset < 0 || (!may_be_one && !unify(from[i], to[i + offset]))) {
      return false;
    }
  }
  return offset >= 0;
}

}  // namespace torchtrt::network
