// Operators whose results are as long as their data say, as plugins. Each has room for the longest result; its last
// output, an int64 number, says how many rows there are of those outputs that the field "counted" names. Rows
// behind them are not written and never shown: engines cut such outputs, and no step may read them
// (src/plan/counted.h).
#pragma once

#include <memory>

#include "torchtrt/plugin.h"

namespace torchtrt::kernels::counted {

// "torchtrt::NonZero", field by_axis (bool): x [...] of any dtype -> the places of what is not zero in row-major order,
// int64: one output [places, axes], or by axis one output [places] each.
std::shared_ptr<const plugin::PluginCreator> createNonZeroCreator();

// "torchtrt::MaskedRows": x [n, ...] of any dtype, mask [n] bool -> the rows of x where the mask is true.
std::shared_ptr<const plugin::PluginCreator> createMaskedRowsCreator();

// "torchtrt::Unique", field consecutive (bool): x [n] -> its different values, sorted, or consecutive one for each run;
// where among them each element is, int64 [n], which is not counted; how often each came, int64.
std::shared_ptr<const plugin::PluginCreator> createUniqueCreator();

// "torchtrt::Suppression", field iou_threshold (double): boxes [n, 4], scores [n], float32 or float64 -> the numbers of
// the boxes that torchvision::nms keeps, int64, best first.
std::shared_ptr<const plugin::PluginCreator> createSuppressionCreator();

}  // namespace torchtrt::kernels::counted
