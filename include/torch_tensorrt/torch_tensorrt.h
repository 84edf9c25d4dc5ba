// The reference system's name for torchtrt/torchtrt.h; nothing of its own.
#pragma once

#include "torch_tensorrt/macros.h"
#include "torchtrt/torchtrt.h"

namespace torch_tensorrt = torchtrt;
