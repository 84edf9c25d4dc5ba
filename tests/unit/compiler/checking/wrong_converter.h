// An engine that disagrees with PyTorch, for tests of what finds it.
#pragma once

#include <gtest/gtest.h>

#include "torchtrt/conversion.h"

namespace torchtrt {

// Gives aten::special_bessel_y1 a converter with a bug: it computes a sine.
inline void registerWrongConverter() {
  static const bool is_registered = [] {
    conversion::RegisterNodeConversionPatterns().pattern(
        {"aten::special_bessel_y1(Tensor self) -> Tensor",
         [](conversion::ConversionCtx* ctx, const torch::jit::Node* n, conversion::args& args) -> bool {
           auto* layer = ctx->net->addUnary(*args[0].ITensorOrFreeze(ctx), "sin");
           ctx->AssociateValueAndTensor(n->outputs()[0], layer->getOutput(0));
           return true;
         }});
    return true;
  }();
  ASSERT_TRUE(is_registered);
}

}  // namespace torchtrt
