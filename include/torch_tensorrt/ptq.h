// The reference system's name for torchtrt/ptq.h; nothing of its own.
#pragma once

#include "torchtrt/nvinfer1.h"
#include "torchtrt/ptq.h"

namespace torch_tensorrt = torchtrt;
