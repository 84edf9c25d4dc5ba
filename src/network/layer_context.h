// A layer of a network as rules see it (base/layer_rules): symbolic operands, and the ranges of their symbols. The
// types of its operands are known.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/layer_rules/layer_view.h"
#include "torchtrt/network.h"

namespace torchtrt::network {

class LayerContext : public layer_rules::LayerView<Dim> {
 public:
  explicit LayerContext(const Layer& layer) : layer_(layer) {}

  const Layer& layer() const {
    return layer_;
  }
  int operands() const override {
    return layer_.getNbInputs();
  }
  bool has(int operand) const override {
    return operand < operands() && layer_.getInput(operand) != nullptr;
  }
  DType dtype(int operand) const override {
    return layer_.getInput(operand)->getType();
  }
  const torchtrt::Dims& dims(int operand) const override {
    return layer_.getInput(operand)->getDimensions();
  }
  const Attributes& attributes() const override {
    return layer_.attributes();
  }
  const torchtrt::Dims* findDims(std::string_view attribute) const override;
  // A symbol that nobody declared may be any dimension.
  std::pair<int64_t, int64_t> range(const Dim& dim) const override;

  void noteUndecided(const Dim& a, const Dim& b) const override {
    undecided_ = {a, b};
  }
  // The last two dims that broadcast() could not tell apart from 1, if there were any.
  const std::optional<std::pair<Dim, Dim>>& undecided() const {
    return undecided_;
  }

 private:
  const Layer& layer_;
  mutable std::optional<std::pair<Dim, Dim>> undecided_;
};

}  // namespace torchtrt::network
