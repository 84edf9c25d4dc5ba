// Counts what a layer has to do at the least, whatever kernel runs it. Profiles hold its time against this.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/kernel.h"
#include "torchtrt/export.h"

namespace torchtrt::kernels {

struct Work {
  double flops = 0;  // multiplications and additions; of layers that are no products one per element of the outputs
  double bytes = 0;  // of its operands, each read or written once
  // The dtype that tensor cores of a GPU multiply: "float16", "bfloat16", "int8", and "tf32" of float32 that may be
  // rounded. Empty for layers that are no products, and for other factors.
  std::string_view factors;
};

// present: which inputs are there; the others count for nothing.
TORCHTRT_API Work workOf(std::string_view family, const Attributes& attributes, const ShapeSet& shapes,
                         const std::vector<bool>& present);

}  // namespace torchtrt::kernels
