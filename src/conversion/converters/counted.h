// Rows by a mask, whose number is in the data: shared with advanced indexing. The results are outputs of the engine;
// what needs them is refused (see walk.cpp), so that the partitioner puts it behind.
#pragma once

#include "conversion/converters/call.h"

namespace torchtrt::conversion::converters {

// x[mask], for a mask over the first axes of x.
Tensor& maskedRows(const Call& call, Tensor& x, Tensor& mask);

}  // namespace torchtrt::conversion::converters
