// A converter with a bug, in a library that torchtrtc --custom-converters opens: aten::special_bessel_y1 becomes a
// sine. The planted fault of tests/python/test_recorder.py.
#include "torchtrt/conversion.h"

namespace {

using torchtrt::conversion::args;
using torchtrt::conversion::ConversionCtx;

bool convert(ConversionCtx* ctx, const torch::jit::Node* n, args& args) {
  auto* layer = ctx->net->addUnary(*args[0].ITensorOrFreeze(ctx), "sin");
  ctx->AssociateValueAndTensor(n->outputs()[0], layer->getOutput(0));
  return true;
}

const auto kConverter = torchtrt::conversion::RegisterNodeConversionPatterns().pattern(
    {"aten::special_bessel_y1(Tensor self) -> Tensor", convert});

}  // namespace
