// The plugin torchtrt::Attention: softmax(q k^T * scale + mask) v, which the optimizer puts together from its pieces.
//
// Operands: q [..., T, D], k [..., D, L] (or [..., L, D] with the field transpose_k), v [..., L, E], float32, with
// equal leading dims, and up to two masks that broadcast against [..., T, L]: float32 ones are added to the scaled
// scores, bool ones make scores minus infinity where they are false, in order. The first axis of a mask with all axes
// of the scores may be a divisor of theirs: it is repeated. Output: [..., T, E].
//
// With the field `heads` above 0, heads lie side by side in channels: q [B, T, *], k [B, L, *] and v [B, L, *] (which
// may be one tensor), or [T, B, *] ... with `sequence_first`; head h of q has the channels from q_channel + h *
// head_size on, of k from k_channel + h * head_size, of v from v_channel + h * value_size. Masks broadcast against [B,
// heads, T, L]. Output: [B, T, heads * value_size], or [T, B, ...].
//
// `safe`: where all scores are minus infinity, the output is 0 instead of NaN.
#pragma once

#include <memory>

#include "torchtrt/plugin.h"

namespace torchtrt::kernels::attention {

std::shared_ptr<const plugin::PluginCreator> createAttentionCreator();

}  // namespace torchtrt::kernels::attention
