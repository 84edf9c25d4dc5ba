#include "compiler/segments/kept_segment.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <set>
#include <sstream>

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/frozen_conv_folding.h>

#include "compiler/module/placing.h"
#include "lowering/source_files.h"

namespace torchtrt::compiler {

namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

bool isDense(const at::Tensor& tensor) {
  return tensor.is_cpu() && tensor.layout() == at::kStrided && tensor.has_storage() &&
         tensor.is_non_overlapping_and_dense();
}

constexpr size_t kSmall = 1024;   // bytes
constexpr float kFolded = 2e-6F;  // relative, of float32

// Compares dense memory in its order. Elements agree if they are equal, or as near as two ways of folding the same
// numbers.
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
      return areClose<float>(a, b, kFolded);
    case at::kDouble:
      return areClose<double>(a, b, 4e-15);
    default:
      return std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0;
  }
}

// The same tensor in an engine's weight, where one holds the same, be it transposed: smaller ones are not worth a
// search.
std::optional<at::Tensor> inWeights(const std::vector<at::Tensor>& weights, const at::Tensor& tensor) {
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

// Weights whose rows, one after the other, are the tensor's: an engine may multiply by parts of a matrix. Empty where
// there are none, or that many that they are none of these: every row of zeros is a bias of zeros.
std::vector<at::Tensor> partsInWeights(const std::vector<at::Tensor>& weights, const at::Tensor& tensor) {
  constexpr size_t kMostParts = 16;
  std::vector<at::Tensor> parts;
  if (tensor.dim() != 2 || !tensor.is_contiguous() || tensor.numel() == 0) {
    return parts;
  }
  std::set<int64_t, std::greater<>> heights;
  for (const at::Tensor& weight : weights) {
    if (weight.numel() % tensor.size(1) == 0 && weight.numel() < tensor.numel()) {
      heights.insert(weight.numel() / tensor.size(1));
    }
  }
  for (int64_t row = 0; row < tensor.size(0);) {
    std::optional<at::Tensor> part;
    for (auto height = heights.begin(); !part && height != heights.end(); ++height) {
      if (*height > 0 && *height <= tensor.size(0) - row) {
        part = inWeights(weights, tensor.narrow(0, row, *height));
      }
    }
    if (!part || parts.size() == kMostParts) {
      return {};
    }
    row += part->size(0);
    parts.push_back(std::move(*part));
  }
  return parts;
}

// The tensor as rows of a weight that has as many of them several times: an engine may multiply by a matrix whose parts
// others take.
std::optional<at::Tensor> rowsInWeights(const std::vector<at::Tensor>& weights, const at::Tensor& tensor) {
  if (tensor.dim() != 2 || !isDense(tensor) || !tensor.is_contiguous() || tensor.nbytes() < kSmall) {
    return std::nullopt;
  }
  for (const at::Tensor& weight : weights) {
    const bool may_hold = weight.is_contiguous() && weight.scalar_type() == tensor.scalar_type() &&
                          weight.numel() > tensor.numel() && weight.numel() % tensor.numel() == 0;
    for (int64_t start = 0; may_hold && start < weight.numel(); start += tensor.numel()) {
      at::Tensor rows = weight.as_strided(tensor.sizes(), tensor.strides(), weight.storage_offset() + start);
      if (areSame(rows, tensor)) {
        return rows;
      }
    }
  }
  return std::nullopt;
}

// A weight and the factors [rows, 1] by which its rows are the tensor's: an engine folds a scale of channels into the
// product before it. Empty where there is none.
std::vector<at::Tensor> scaledInWeights(const std::vector<at::Tensor>& weights, const at::Tensor& tensor) {
  if (tensor.dim() != 2 || !tensor.is_contiguous() || tensor.numel() == 0 || tensor.scalar_type() != at::kFloat) {
    return {};
  }
  for (const at::Tensor& weight : weights) {
    if (weight.sizes() != tensor.sizes() || weight.scalar_type() != at::kFloat || !weight.is_contiguous()) {
      continue;
    }
    at::Tensor factors = at::empty({tensor.size(0), 1}, tensor.options());
    const auto fits = [&](int64_t row) {
      const int64_t columns = tensor.size(1);
      const float* from = weight.const_data_ptr<float>() + row * columns;
      const float* to = tensor.const_data_ptr<float>() + row * columns;
      const float* largest =
          std::max_element(from, from + columns, [](float a, float b) { return std::abs(a) < std::abs(b); });
      const float factor = *largest == 0 ? 0 : to[largest - from] / *largest;
      factors.mutable_data_ptr<float>()[row] = factor;
      return std::equal(from, from + columns, to, [factor](float a, float b) {
        return std::isfinite(b) && std::abs(a * factor - b) <= kFolded * std::abs(b);
      });
    };
    int64_t row = 0;
    while (row < tensor.size(0) && fits(row)) {
      ++row;
    }
    if (row == tensor.size(0)) {
      return {weight, factors};
    }
  }
  return {};
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

// Constants, the graph's last inputs, in the engine's weights where these have them.
void shareWeights(Graph& graph, std::vector<at::Tensor>& tensors, const std::vector<at::Tensor>& weights,
                  bool shares_constants) {
  const size_t first = graph.inputs().size() - tensors.size();
  for (size_t i = tensors.size(); i-- > 0;) {
    const auto shared = sharedTensor(weights, tensors[i], shares_constants);
    if (!shared) {
      tensors[i] = shares_constants ? tensors[i] : tensors[i].clone();
    } else if (shared->parts.size() == 1) {
      tensors[i] = shared->parts.front();
    } else {
      replaceInput(graph, first + i, shared->parts.size(), shared->scaled);
      tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(i));
      tensors.insert(tensors.end(), shared->parts.begin(), shared->parts.end());
    }
  }
}

}  // namespace

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

void replaceInput(Graph& graph, size_t index, size_t parts, bool scaled) {
  const torch::jit::WithInsertPoint first(*graph.nodes().begin());
  std::vector<Value*> values;
  std::generate_n(std::back_inserter(values), parts, [&] { return graph.addInput(); });
  Value* made = values.front();
  if (scaled) {
    made = graph.insert(c10::aten::mul, {values[0], values[1]});
  } else if (parts > 1) {
    Value* list = graph.insertNode(graph.createList(c10::TensorType::get(), values))->output();
    made = graph.insert(c10::aten::cat, {list, 0});
  }
  graph.inputs()[index]->replaceAllUsesWith(made);
  graph.eraseInput(index);
}

std::optional<SharedTensor> sharedTensor(const std::vector<at::Tensor>& weights, const at::Tensor& tensor,
                                         bool shares_constants) {
  const auto whole = shares_constants ? inStorageOf(weights, tensor) : inWeights(weights, tensor);
  if (whole || shares_constants) {
    return whole ? std::optional(SharedTensor{{*whole}}) : std::nullopt;
  }
  if (auto rows = rowsInWeights(weights, tensor)) {
    return SharedTensor{{*rows}};
  }
  if (std::vector<at::Tensor> parts = partsInWeights(weights, tensor); !parts.empty()) {
    return SharedTensor{std::move(parts)};
  }
  std::vector<at::Tensor> factors = scaledInWeights(weights, tensor);
  return factors.empty() ? std::nullopt : std::optional(SharedTensor{std::move(factors), true});
}

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
                                        const std::vector<at::Tensor>& engine_weights, bool shares_constants,
                                        const std::vector<at::Tensor>& others, runtime::HostCopies* host,
                                        const DeviceTarget& target) {
  std::shared_ptr<Graph> graph = segment.graph->copy();
  if (host != nullptr) {
    bringToHost(*graph->block(), *host);
  }
  if (target.engineType() != at::kCPU) {
    followInputs(*graph, target.device);
  }
  if (!shares_constants) {
    torch::jit::FoldFrozenConvBatchnorm(graph);  // as the engine's builder does: its weights are then this graph's
    torch::jit::EliminateDeadCode(graph);
  }
  std::vector<at::Tensor> tensors;
  hoistTensors(graph->block(), *graph, tensors);
  shareWeights(*graph, tensors, engine_weights, shares_constants);
  for (const at::Tensor& other : others) {
    graph->addInput();
    tensors.push_back(other);
  }
  const std::vector<Value*> outputs = graph->outputs().vec();
  while (!graph->outputs().empty()) {
    graph->eraseOutput(0);
  }
  graph->registerOutput(graph->appendNode(graph->createList(c10::TensorType::get(), outputs))->output());
  torch::jit::Module module("__torch__.Segment", std::make_shared<torch::jit::CompilationUnit>());
  graph->insertInput(0, "self")->setType(module.type());
  lowering::showSourceFiles(*graph->block());
  const c10::QualifiedName name(*module.type()->name(), "forward");
  module.type()->addMethod(module._ivalue()->compilation_unit()->create_function(name, graph));
  std::ostringstream archive;
  module.save(archive);
  return {archive.str(), std::move(tensors)};
}

}  // namespace torchtrt::compiler
