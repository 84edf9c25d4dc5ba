#include "compiler/kept_segment.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/frozen_conv_folding.h>

namespace torchtrt::compiler {

namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

// Constant tensors become inputs behind the others, so that they are stored with the module's, once.
void hoistTensors(torch::jit::Block* block, Graph& graph, std::vector<at::Tensor>& tensors) {
  for (auto it = block->nodes().begin(); it != block->nodes().end();) {
    Node* node = *it++;
    for (torch::jit::Block* inner : node->blocks()) {
      hoistTensors(inner, graph, tensors);
    }
    const auto constant =
        node->kind() == torch::jit::prim::Constant ? torch::jit::toIValue(node->output()) : std::nullopt;
    if (constant && constant->isTensor() && constant->toTensor().defined()) {
      node->output()->replaceAllUsesWith(graph.addInput());
      node->destroy();
      tensors.push_back(constant->toTensor());
    }
  }
}

bool isDense(const at::Tensor& tensor) {
  return tensor.is_cpu() && tensor.layout() == at::kStrided && tensor.has_storage() &&
         tensor.is_non_overlapping_and_dense();
}

// Of memory in its order. Equal, or what two ways of folding the same numbers give.
template <typename T>
bool areClose(const at::Tensor& a, const at::Tensor& b, T tolerance) {
  const auto close = [tolerance](T x, T y) { return x == y || std::abs(x - y) <= tolerance * std::abs(y); };
  const T* begin = a.const_data_ptr<T>();
  return std::equal(begin, begin + a.numel(), b.const_data_ptr<T>(), close);
}

bool areSame(const at::Tensor& a, const at::Tensor& b) {
  if (a.numel() != b.numel() || a.scalar_type() != b.scalar_type()) {
    return false;
  }
  switch (a.scalar_type()) {
    case at::kFloat:
      return areClose<float>(a, b, 2e-6F);
    case at::kDouble:
      return areClose<double>(a, b, 4e-15);
    default:
      return std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0;
  }
}

// The same tensor in an engine's weight, where one holds the same, be it transposed: smaller ones are not worth a
// search.
std::optional<at::Tensor> inWeights(const std::vector<at::Tensor>& weights, const at::Tensor& tensor) {
  constexpr size_t kSmall = 1024;
  if (!isDense(tensor) || tensor.nbytes() < kSmall) {
    return std::nullopt;
  }
  for (const at::Tensor& weight : weights) {
    if (areSame(weight, tensor)) {
      return weight.as_strided(tensor.sizes(), tensor.strides());
    }
  }
  if (tensor.dim() == 2) {
    const bool by_rows = tensor.is_contiguous();
    const at::Tensor turned = by_rows ? tensor.t().contiguous() : tensor.contiguous();
    for (const at::Tensor& weight : weights) {
      if (areSame(weight, turned)) {
        return weight.as_strided(tensor.sizes(), by_rows ? std::vector<int64_t>{1, tensor.size(0)}
                                                         : std::vector<int64_t>{tensor.size(1), 1});
      }
    }
  }
  return std::nullopt;
}

// The same for a tensor that an engine was given as it is.
std::optional<at::Tensor> inStorageOf(const std::vector<at::Tensor>& weights, const at::Tensor& tensor) {
  if (!isDense(tensor)) {
    return std::nullopt;
  }
  for (const at::Tensor& weight : weights) {
    const bool is_same = weight.const_data_ptr() == tensor.const_data_ptr() && weight.nbytes() == tensor.nbytes() &&
                         weight.scalar_type() == tensor.scalar_type();
    if (is_same && !weight.is_alias_of(tensor)) {
      return weight.as_strided(tensor.sizes(), tensor.strides());
    }
  }
  return std::nullopt;
}

}  // namespace

void shareStorage(const torch::jit::Module& module, const std::vector<at::Tensor>& engine_weights) {
  for (const auto& attribute : module.named_attributes(/*recurse=*/true)) {
    if (attribute.value.isTensor() && attribute.value.toTensor().defined()) {
      const at::Tensor tensor = attribute.value.toTensor();
      if (const auto shared = inStorageOf(engine_weights, tensor)) {
        tensor.set_data(*shared);
      }
    }
  }
}

runtime::KeptSegment::State keptSegment(const partitioning::Segment& segment,
                                        const std::vector<at::Tensor>& engine_weights, bool shares_constants) {
  std::shared_ptr<Graph> graph = segment.graph->copy();
  if (!shares_constants) {
    torch::jit::FoldFrozenConvBatchnorm(graph);  // as the engine's builder does: its weights are then this graph's
    torch::jit::EliminateDeadCode(graph);
  }
  std::vector<at::Tensor> tensors;
  hoistTensors(graph->block(), *graph, tensors);
  for (at::Tensor& tensor : tensors) {
    const auto shared = shares_constants ? inStorageOf(engine_weights, tensor) : inWeights(engine_weights, tensor);
    tensor = shared ? *shared : shares_constants ? tensor : tensor.clone();
  }
  const std::vector<Value*> outputs = graph->outputs().vec();
  while (!graph->outputs().empty()) {
    graph->eraseOutput(0);
  }
  graph->registerOutput(graph->appendNode(graph->createList(c10::TensorType::get(), outputs))->output());
  torch::jit::Module module("__torch__.Segment", std::make_shared<torch::jit::CompilationUnit>());
  graph->insertInput(0, "self")->setType(module.type());
  const c10::QualifiedName name(*module.type()->name(), "forward");
  module.type()->addMethod(module._ivalue()->compilation_unit()->create_function(name, graph));
  std::ostringstream archive;
  module.save(archive);
  return {archive.str(), std::move(tensors)};
}

}  // namespace torchtrt::compiler
