// The spelling before torch_tensorrt and torchtrt of torchtrt/ptq.h; nothing of its own.
#pragma once

#include "torchtrt/nvinfer1.h"
#include "torchtrt/ptq.h"

namespace trtorch {
namespace ptq = torchtrt::ptq;
}
