// The reference system's name for torchtrt/torchtrt.h; nothing of its own.
#pragma once

#include "torchtrt/torchtrt.h"

namespace torch_tensorrt = torchtrt;
