// The plugin behind searchsorted and bucketize.
//
// torchtrt::Search: operands boundaries and values of one dtype, boundaries [n] or [..., n] with the leading dims of
// the values; fields right (boundaries that equal a value lie before it) and int32 (of the output, else int64). Output:
// for each value how many boundaries lie before it, by PyTorch's binary search, whose answer NaN and an order that is
// none do not change.
#pragma once

#include <memory>

#include "torchtrt/plugin.h"

namespace torchtrt::kernels::search {

std::shared_ptr<const plugin::PluginCreator> createSearchCreator();

}  // namespace torchtrt::kernels::search
