// The oldest spelling of a converter includes this for names of torchtrt/conversion.h; it has nothing of its own.
#pragma once

#include "torchtrt/conversion.h"
#include "torchtrt/nvinfer1.h"
#include "trtorch/core/util/util.h"

namespace trtorch::core::conversion {

using torchtrt::conversion::ConversionCtx;
using torchtrt::conversion::TensorContainer;

namespace converters {
using torchtrt::conversion::Arg;
using torchtrt::conversion::args;
using torchtrt::conversion::ConversionPattern;
using torchtrt::conversion::OpConverter;
using torchtrt::conversion::RegisterNodeConversionPatterns;
using torchtrt::conversion::Var;
using torchtrt::conversion::Weights;
}  // namespace converters
}  // namespace trtorch::core::conversion
