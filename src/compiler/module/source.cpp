#include "compiler/module/source.h"

#include <algorithm>
#include <utility>

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include "base/logging.h"
#include "compiler/inputs/dtype_inference.h"
#include "compiler/module/plain_run.h"
#include "compiler/module/precision_pins.h"
#include "lowering/call_stacks.h"
#include "lowering/graph_walk.h"
#include "lowering/passes/passes.h"
#include "runtime/dtypes.h"
#include "stitching/carried_methods.h"

namespace torchtrt::compiler {

namespace {

using AddressRange = std::pair<const char*, const char*>;

std::vector<AddressRange> storagesOf(const torch::jit::Module& module) {
  std::vector<AddressRange> ranges;
  for (const torch::jit::IValue& attribute : module.attributes()) {
    if (attribute.isTensor() && attribute.toTensor().defined() && attribute.toTensor().has_storage()) {
      const c10::Storage& storage = attribute.toTensor().storage();
      const auto* begin = static_cast<const char*>(storage.data());
      ranges.emplace_back(begin, begin + storage.nbytes());
    }
  }
  return ranges;
}

// Those that require gradients in one module do so in a copy of it, too.
void markParameters(const torch::jit::Module& from, const torch::jit::Module& to) {
  const std::vector<at::Tensor> originals = tensorsOf(from);
  const std::vector<at::Tensor> copies = tensorsOf(to);
  for (size_t i = 0; i < originals.size(); ++i) {
    copies[i].set_requires_grad(originals[i].requires_grad());
  }
}

}  // namespace

std::vector<at::Tensor> tensorsOf(const torch::jit::Module& module) {
  std::vector<at::Tensor> tensors;
  for (const at::Tensor& parameter : module.parameters()) {
    tensors.push_back(parameter);
  }
  for (const at::Tensor& buffer : module.buffers()) {
    tensors.push_back(buffer);
  }
  return tensors;
}

DataType weightPrecision(const ts::CompileSpec& spec) {
  if (spec.op_precision != DataType::kUnknown) {
    return spec.op_precision;
  }
  for (const DataType reduced : {DataType::kHalf, DataType::kBFloat16}) {
    const auto& inputs = spec.graph_inputs.inputs;
    const bool wanted =
        std::any_of(inputs.begin(), inputs.end(), [&](const Input& input) { return input.dtype == reduced; });
    if (wanted && spec.enabled_precisions.count(reduced) != 0) {
      return reduced;
    }
  }
  return DataType::kUnknown;
}

Source withPrecision(const Source& source, const ts::CompileSpec& spec) {
  const DataType precision = weightPrecision(spec);
  if (precision == DataType::kUnknown || !source.module) {
    return source;
  }
  const at::ScalarType type = runtime::scalarTypeOf(dtypeOf(precision));
  const auto differs = [&](const at::Tensor& tensor) {
    return tensor.is_floating_point() && tensor.scalar_type() != type;
  };
  const std::vector<at::Tensor> original = tensorsOf(*source.module);
  if (std::none_of(original.begin(), original.end(), differs)) {
    return source;
  }
  TORCHTRT_LOG(kINFO, "weights are cast to " << precision << ", as module.to(dtype) does");
  auto copy = std::make_shared<torch::jit::Module>(source.module->deepcopy());
  const std::vector<at::Tensor> pinned = pinnedTensors(spec, *copy);
  const auto is_pinned = [&](const at::Tensor& tensor) {
    return std::any_of(pinned.begin(), pinned.end(), [&](const at::Tensor& each) { return each.is_same(tensor); });
  };
  for (const at::Tensor& tensor : tensorsOf(*copy)) {
    if (differs(tensor) && !is_pinned(tensor)) {
      tensor.set_data(tensor.to(type));
    }
  }
  return {copy, source.method, nullptr};
}

bool hasOtherMethods(const Source& source, bool keep_methods) {
  if (!source.module) {
    return false;
  }
  const auto carried = stitching::carriedFunctions(*source.module->type(), source.method, keep_methods);
  return std::any_of(carried.begin(), carried.end(), [](torch::jit::Function* each) {
    const torch::jit::GraphFunction* function = torch::jit::tryToGraphFunction(*each);
    return function == nullptr || function->graph()->inputs()[0]->hasUses();
  });
}

Source owned(const Source& source) {
  if (!source.module) {
    return source;
  }
  auto copy = std::make_shared<torch::jit::Module>(source.module->deepcopy());
  if (lowering::computesGradients(*inlinedGraph(source))) {
    markParameters(*source.module, *copy);
  }
  return {copy, source.method, nullptr};
}

std::shared_ptr<torch::jit::Graph> inlinedGraph(const Source& source) {
  std::shared_ptr<torch::jit::Graph> graph = source.module->get_method(source.method).graph()->copy();
  lowering::inlineMethods(graph);
  torch::jit::Inline(*graph);
  return graph;
}

torch::jit::IValue sharingTensors(const torch::jit::IValue& module) {
  torch::jit::IValue::HashIdentityIValueMap shared;
  for (const torch::jit::IValue& attribute : module.toModule().attributes()) {
    if (attribute.isTensor() || attribute.isCustomClass()) {
      shared.emplace(attribute, attribute);
    }
  }
  return module.deepcopy(shared);
}

lowering::LoweredGraph lower(const Source& source, lowering::LoweringOptions options) {
  if (options.keep_state) {
    // PyTorch's int8 kernels are faster than float32 ones: quantized operators leave it where nothing may stay in it.
    options.disabled_passes.emplace_back("lower_quantized");
  }
  return source.module ? lowering::lower(*source.module, source.method, options)
                       : lowering::lower(source.graph, options);
}

torch::jit::Stack argumentsOf(const Source& source, const lowering::LoweredGraph& lowered,
                              std::vector<torch::jit::IValue> arguments) {
  if (lowered.has_self) {
    arguments.insert(arguments.begin(), source.module->_ivalue());
  }
  for (size_t i = arguments.size() - (lowered.has_self ? 1 : 0); i < lowered.schema.arguments().size(); ++i) {
    arguments.push_back(lowered.schema.arguments()[i].default_value().value_or(torch::jit::IValue()));
  }
  return arguments;
}

torch::jit::IValue run(const Source& source, const lowering::LoweredGraph& lowered,
                       std::vector<torch::jit::IValue> arguments) {
  const c10::AutoGradMode gradients(lowered.computes_gradients);
  if (!lowered.pinned.empty() || lowered.is_retargeted) {
    return interpret(lowered.graph, argumentsOf(source, lowered, std::move(arguments))).front();
  }
  if (!source.module) {
    return interpret(source.graph, std::move(arguments)).front();
  }
  const torch::jit::GraphOptimizerEnabledGuard optimize(torch::jit::getGraphExecutorOptimize() ||
                                                        lowering::entersAutocast(*source.module, source.method));
  return PlainMethod(*source.module, source.method)(std::move(arguments));
}

void ownConstants(torch::jit::Block& block) {
  for (torch::jit::Node* node : block.nodes()) {
    for (torch::jit::Block* inner : node->blocks()) {
      ownConstants(*inner);
    }
    const auto value = node->kind() == torch::jit::prim::Constant ? torch::jit::toIValue(node->output()) : std::nullopt;
    if (value && value->isTensor() && value->toTensor().defined()) {
      node->t_(torch::jit::attr::value, value->toTensor().clone());
    } else if (value && value->isTensorList()) {
      node->ival_(torch::jit::attr::value, value->deepcopy());
    }
  }
}

std::vector<bool> borrowedFrom(const torch::jit::IValue& module, const std::vector<at::Tensor>& weights) {
  const std::vector<AddressRange> foreign =
      module.isModule() ? storagesOf(module.toModule()) : std::vector<AddressRange>();
  std::vector<bool> borrowed;
  for (const at::Tensor& weight : weights) {
    const auto* data = static_cast<const char*>(weight.const_data_ptr());
    borrowed.push_back(std::any_of(foreign.begin(), foreign.end(), [data](const AddressRange& range) {
      return data >= range.first && data < range.second;
    }));
  }
  return borrowed;
}

}  // namespace torchtrt::compiler
