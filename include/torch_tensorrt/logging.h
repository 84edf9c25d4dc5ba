// The reference system's name for torchtrt/logging.h; nothing of its own.
#pragma once

#include "torchtrt/logging.h"

namespace torch_tensorrt = torchtrt;
