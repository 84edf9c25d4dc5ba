// The plugin torchtrt::Attention: softmax(q k^T * scale + mask) v, which the optimizer puts together from its pieces.
// Operands: q [..., T, D], k [..., D, L] (or [..., L, D] with the field transpose_k), v [..., L, E] and optionally
// mask, which broadcasts against [..., T, L]; all float32, with equal leading dims. Output: [..., T, E].
#pragma once

#include <memory>

#include "torchtrt/plugin.h"

namespace torchtrt::kernels::attention {

std::shared_ptr<const plugin::PluginCreator> createAttentionCreator();

}  // namespace torchtrt::kernels::attention
