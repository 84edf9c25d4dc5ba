// The functions that a node was inlined from. libtorch keeps a pointer to each, which is dead once freezing has deleted
// the method, or the module that was compiled is gone. So nothing reads these pointers.
#pragma once

#include <optional>
#include <string>

#include <torch/script.h>

#include "torchtrt/export.h"

namespace torchtrt::lowering {

struct InlinedCall {
  std::string function;    // "forward"
  std::string class_name;  // of its module, qualified; empty for a function
};

// The call that the node stands in directly. Nothing for a node of the method itself.
TORCHTRT_API std::optional<InlinedCall> innermostCall(const torch::jit::Node& node);

// Puts functions that are never deleted in the place of those in the call stacks: libtorch reads them to say where a
// run fails.
TORCHTRT_API void ownCallStacks(torch::jit::Block& block);

}  // namespace torchtrt::lowering
