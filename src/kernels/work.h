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
};

// present: which inputs are there; the others count for nothing.
TORCHTRT_API Work workOf(std::string_view family, const Attributes& attributes, const ShapeSet& shapes,
                         const std::vector<bool>& present);

}  // namespace torchtrt::kernels
