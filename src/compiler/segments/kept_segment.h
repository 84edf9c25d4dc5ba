// PyTorch's form of what an engine computes, kept in the engine for inputs that it was not made for.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "compiler/target.h"
#include "partitioning/partition.h"
#include "runtime/host_copies.h"
#include "runtime/kept_segment.h"

namespace torchtrt::compiler {

// Constant tensors become inputs behind the others, so that they are stored with the module's, once.
void hoistTensors(torch::jit::Block* block, torch::jit::Graph& graph, std::vector<at::Tensor>& tensors);
// Puts what is made of new inputs, one per part, in the place of an input: the rows of all, or, `scaled`, the product.
void replaceInput(torch::jit::Graph& graph, size_t index, size_t parts, bool scaled);

// A tensor in an engine's weights: itself, the parts that have its rows one after the other, or one with the factors of
// its rows.
struct SharedTensor {
  std::vector<at::Tensor> parts;
  bool scaled = false;
};
std::optional<SharedTensor> sharedTensor(const std::vector<at::Tensor>& engine_weights, const at::Tensor& tensor,
                                         bool shares_constants);

// The segment's graph as a module of its own. Its constant tensors are the engine's weights where those are the same,
// rows of several, or multiples of one, up to the rounding of folded weights; others are copied, unless
// `shares_constants`: then they are attributes of the compiled module, too. Its last constants are `others`, of which
// it makes nothing. Constants are on the CPU, brought there with `host`, and it runs where its inputs are.
runtime::KeptSegment::State keptSegment(const partitioning::Segment& segment,
                                        const std::vector<at::Tensor>& engine_weights, bool shares_constants,
                                        const std::vector<at::Tensor>& others = {}, runtime::HostCopies* host = nullptr,
                                        const DeviceTarget& target = {});
// Parameters and buffers that an engine's weights share memory with share their storage too: it is saved once.
void shareStorage(const torch::jit::Module& module, const std::vector<at::Tensor>& engine_weights);

}  // namespace torchtrt::compiler
