// A bool in memory: a byte of its own kind, so that conversions can tell it from uint8. Everything except 0 is true.
#pragma once

#include <cstdint>

namespace torchtrt::kernels {

struct BoolByte {
  uint8_t byte;
};

}  // namespace torchtrt::kernels
