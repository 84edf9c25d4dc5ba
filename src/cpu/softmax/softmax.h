// Softmax and log-softmax along one axis.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels {

CreateResult createSoftmaxReference(const Problem& problem);

}  // namespace torchtrt::kernels
