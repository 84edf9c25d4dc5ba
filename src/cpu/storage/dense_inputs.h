// Operands that lie otherwise than a fast kernel reads them: a copy of a tensor, transposed in tiles where need be,
// costs a fraction of what a walk against the order of memory does.
#pragma once

#include <functional>
#include <memory>

#include "kernels/kernel.h"

namespace torchtrt::kernels {

// True if neighbours in memory are not along the last axis, where kernels write their results. False for small tensors
// and those without neighbours.
bool liesCrosswise(const TensorDesc& desc);

// Returns what `prepare` makes of the shapes with every input row-major, on copies of those that are not. Null if
// nothing would be copied, or if `prepare` gives null.
std::unique_ptr<Prepared> prepareOnDenseInputs(
    const ShapeSet& shapes, const std::function<std::unique_ptr<Prepared>(const ShapeSet&)>& prepare);

}  // namespace torchtrt::kernels
