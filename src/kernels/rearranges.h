// A kernel offers this if it rearranges an operand anyway: a reorder before it would do that twice.
#pragma once

#include "torchtrt/export.h"

namespace torchtrt::kernels {

class TORCHTRT_API RearrangesInput {
 public:
  virtual ~RearrangesInput() = default;
  // True for an operand that the kernel copies, whatever its strides.
  virtual bool rearranges(int input) const = 0;
};

}  // namespace torchtrt::kernels
