// Floating dtypes that a user pins for modules, by patterns of their paths, and which nodes and weights they hold for.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <torch/script.h>

#include "torchtrt/export.h"

namespace torchtrt::lowering {

struct PrecisionPin {
  std::string pattern;  // of module paths: `*`, `?` and `[...]` as in a shell, but they take dots too
  at::ScalarType dtype;
};

struct PrecisionPins {
  std::vector<PrecisionPin> pins;          // of those that cover a module the last holds
  at::ScalarType rest = at::kFloat;        // what is not pinned has this floating dtype
  std::set<const void*> unconverted = {};  // memory of weights that are not of it, since a pinned module owns them
};

// True if the pattern names the module or one around it. "a.b.*" is "a.b" with all that is inside, as "a.b" is.
TORCHTRT_API bool covers(const std::string& pattern, const std::string& module_path);

// The place of the pin that holds for the module; nothing where none does.
TORCHTRT_API std::optional<size_t> pinFor(const std::vector<PrecisionPin>& pins, const std::string& module_path);

// Casts what pinned nodes read to their dtype, and their results back for others, so that PyTorch's interpreter
// computes the same as engines do. A tensor that is written to keeps its dtype, and so do the nodes that read it.
// Returns the number of nodes that each pin holds for.
TORCHTRT_API std::vector<size_t> pinPrecisions(const std::shared_ptr<torch::jit::Graph>& graph,
                                               const PrecisionPins& pins);

}  // namespace torchtrt::lowering
