// A kernel may restore constants: its packed constants hold all of what they were made from, so that nobody needs to
// keep the originals.
#pragma once

#include "torchtrt/export.h"

namespace torchtrt::kernels {

class TORCHTRT_API RestoresConstants {
 public:
  virtual ~RestoresConstants() = default;
  // True if this constant input can be restored.
  virtual bool restores(int input) const = 0;
  // Writes it to `to`, row-major and bit by bit as it was given. Only where restores(input).
  virtual void restore(int input, void* to, int threads) const = 0;
};

}  // namespace torchtrt::kernels
