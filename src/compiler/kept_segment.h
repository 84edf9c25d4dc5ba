// PyTorch's form of what an engine computes, kept in the engine for inputs that it was not made for.
#pragma once

#include <memory>
#include <vector>

#include "partitioning/partition.h"
#include "runtime/kept_segment.h"

namespace torchtrt::compiler {

// The segment's graph as a module of its own. Its constant tensors are the engine's weights where those are the same,
// rows of several, or multiples of one, up to the rounding of folded weights; others are copied, unless
// `shares_constants`: then they are attributes of the compiled module, too.
runtime::KeptSegment::State keptSegment(const partitioning::Segment& segment,
                                        const std::vector<at::Tensor>& engine_weights, bool shares_constants);
// Parameters and buffers that an engine's weights share memory with share their storage too: it is saved once.
void shareStorage(const torch::jit::Module& module, const std::vector<at::Tensor>& engine_weights);

}  // namespace torchtrt::compiler
