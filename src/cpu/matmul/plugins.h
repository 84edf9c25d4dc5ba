// The plugin behind products of a mixture of experts.
//
// torchtrt::GroupedProduct: operands a [rows, depth], b [groups, depth, columns] of float32 or float64, and ends
// [groups] of int32 or int64. Output: [rows, columns]; rows up to the first end are multiplied with the first matrix of
// b, those from there to the second end with the second, and so on; rows behind the last end are 0. An EngineError
// where ends fall or lie outside of the rows.
#pragma once

#include <memory>

#include "torchtrt/plugin.h"

namespace torchtrt::kernels::matmul {

std::shared_ptr<const plugin::PluginCreator> createGroupedProductCreator();

}  // namespace torchtrt::kernels::matmul
