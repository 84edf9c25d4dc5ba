// The fast implementations of reduce, for the list in families.cpp.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels::reduce {

CreateResult createVectors(const Problem& problem);     // sums, averages and extremes of floating numbers
CreateResult createDoubleSums(const Problem& problem);  // products, norms and logsumexp of floating numbers
CreateResult createTruth(const Problem& problem);       // any and all of bools
CreateResult createIntegers(const Problem& problem);    // sums, products and extremes of integers

}  // namespace torchtrt::kernels::reduce
