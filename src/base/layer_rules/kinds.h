// Every kind of layer with its rules and its outputs, on symbols (`D` is Dim) and on numbers (Number). Constants, which
// have no operands, and plugins, which have rules of their own, are the network's alone.
#pragma once

#include <string_view>

#include "base/layer_rules/convolution.h"
#include "base/layer_rules/integer_weights.h"
#include "base/layer_rules/moving.h"
#include "base/layer_rules/pointwise.h"
#include "base/layer_rules/pooling.h"
#include "base/layer_rules/quantized.h"
#include "base/layer_rules/reducing.h"

namespace torchtrt::layer_rules {

template <typename D>
const std::vector<Kind<D>>& kinds() {
  static const auto* const all = [] {
    auto* list = new std::vector<Kind<D>>;
    for (auto* group :
         {ConvolutionRules<D>::kinds, PoolingRules<D>::kinds, PointwiseRules<D>::kinds, MovingRules<D>::kinds,
          ReducingRules<D>::kinds, QuantizedRules<D>::kinds, IntegerWeightRules<D>::kinds}) {
      const std::vector<Kind<D>> more = group();
      list->insert(list->end(), more.begin(), more.end());
    }
    return list;
  }();
  return *all;
}

// Null if there is none of that name.
template <typename D>
const Kind<D>* findKind(std::string_view name) {
  for (const Kind<D>& kind : kinds<D>()) {
    if (kind.name == name) {
      return &kind;
    }
  }
  return nullptr;
}

}  // namespace torchtrt::layer_rules
