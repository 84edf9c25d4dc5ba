// Operands that lie otherwise than a fast kernel reads them: a copy of a tensor, transposed in tiles where need be,
// costs a fraction of what a walk against the order of memory does.
#pragma once

#include <functional>
#include <memory>

#include "kernels/kernel.h"

namespace torchtrt::kernels {

// Whether elements next to each other in memory are not along the last axis, where kernels write their results. Small
// tensors and those without neighbours count as not.
bool liesCrosswise(const TensorDesc& desc);

// What `prepare` makes of the shapes with every input row-major, on copies of those that are not. Null where nothing
// would be copied, and where it gives null.
std::unique_ptr<Prepared> prepareOnDenseInputs(
    const ShapeSet& shapes, const std::function<std::unique_ptr<Prepared>(const ShapeSet&)>& prepare);

}  // namespace torchtrt::kernels
