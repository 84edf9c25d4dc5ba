// The interface of kernels that rearrange an operand anyway. A reorder before such a kernel would do that twice.
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
