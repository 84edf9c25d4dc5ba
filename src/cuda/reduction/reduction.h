// Layers that fold many elements into one, and those that need such a fold of a row.
#pragma once

#include <memory>
#include <string>

#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"
#include "kernels/kernel.h"

namespace torchtrt::cuda {

kernels::CreateResult createReduce(const kernels::Problem& problem);
// Folds operand 0 over axes by an operation of the layer kind "reduce", for layers of other kinds that mean the same.
std::unique_ptr<kernels::Prepared> prepareReduction(const Layer& layer, const kernels::ShapeSet& shapes,
                                                    const std::string& op, const Ints& axes);
kernels::CreateResult createSoftmax(const kernels::Problem& problem);
kernels::CreateResult createNormalization(const kernels::Problem& problem);
kernels::CreateResult createCumulative(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
