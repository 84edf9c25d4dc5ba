// The command line's grammar for one input: "(1,3,224,224)", "[(1,3,8,8);(1,3,64,64);(1,3,512,512)]", then optionally
// "@dtype" and "%format". Only the text is judged here; whether the model takes it is the compiler's question.
#pragma once

#include <string>

#include "torch_tensorrt/torch_tensorrt.h"

namespace torchtrtc {

// dtype: float|float32|f32|fp32, half|float16|f16|fp16, int8|i8|char, int|int32|i32, long|int64|i64,
// double|float64|f64, bool|b. format: linear|nchw|chw|contiguous, nhwc|hwc|channels_last. Throws
// CompileError(kInvalidInputSpec) with the grammar.
torch_tensorrt::Input parseInputSpec(const std::string& text);

// One of the dtype spellings above; `option` names where it stood, for the message.
torch_tensorrt::DataType parseDataType(const std::string& text, const std::string& option);

}  // namespace torchtrtc
