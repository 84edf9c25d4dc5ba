#include "builder/emit.h"

#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "builder/memory_order.h"
#include "builder/program_builder.h"
#include "torchtrt/plugin.h"
#include "torchtrt/version.h"

namespace torchtrt::builder {

namespace {

using network::Layer;
using network::LayerType;
using network::Network;
using network::Tensor;
using network::Weights;

// Pointers serve as keys of look-ups only; every loop follows the network's order.
class Emitter {
 public:
  explicit Emitter(const Network& network) : network_(network), program_(plan_, network.symbols()) {}

  plan::Plan run() {
    plan_.name = network_.name();
    plan_.producer = std::string("torchtrt ") + TORCHTRT_VERSION_STRING;
    for (int i = 0; i < network_.getNbInputs(); ++i) {
      Tensor& input = *network_.getInput(i);
      plan_.inputs.push_back({input.getName(), addTensor(input)});
    }
    findLiveLayers();
    for (Layer* layer : network_.layers()) {
      if (live_.count(layer) != 0) {
        emit(*layer);
      }
    }
    for (int i = 0; i < network_.getNbOutputs(); ++i) {
      plan_.outputs.push_back({network_.getOutputName(i), indexOf(*network_.getOutput(i))});
    }
    return std::move(plan_);
  }

 private:
  void findLiveLayers() {
    std::vector<const Layer*> pending;
    const auto need = [&](const Tensor* tensor) {
      if (tensor != nullptr && tensor->producer() != nullptr && live_.insert(tensor->producer()).second) {
        pending.push_back(tensor->producer());
      }
    };
    for (int i = 0; i < network_.getNbOutputs(); ++i) {
      need(network_.getOutput(i));
    }
    while (!pending.empty()) {
      const Layer* layer = pending.back();
      pending.pop_back();
      for (int i = 0; i < layer->getNbInputs(); ++i) {
        need(layer->getInput(i));
      }
    }
  }

  int32_t addTensor(const Tensor& tensor) {
    plan::Tensor entry;
    entry.name = tensor.getName();
    entry.dtype = tensor.getType();
    entry.dims = program_.compile(tensor.getDimensions());
    entry.order = simplified(tensor.memoryOrder());
    const auto index = static_cast<int32_t>(plan_.tensors.size());
    plan_.tensors.push_back(std::move(entry));
    tensors_.emplace(&tensor, index);
    return index;
  }

  int32_t indexOf(const Tensor& tensor) const {
    return tensors_.at(&tensor);
  }

  void emit(const Layer& layer) {
    if (const Weights* weights = layer.weights()) {
      const int32_t tensor = addTensor(*layer.getOutput(0));
      plan_.tensors[static_cast<size_t>(tensor)].weight = addWeight(*weights);
    } else if (isView(layer)) {
      const int32_t tensor = addTensor(*layer.getOutput(0));
      plan_.tensors[static_cast<size_t>(tensor)].view_of = indexOf(*layer.getInput(0));
    } else {
      emitStep(layer);
    }
  }

  int32_t addWeight(const Weights& weights) {
    plan::Weight entry;
    entry.dtype = weights.dtype;
    entry.dims = weights.dims;
    entry.bytes = weights.bytes();
    entry.hash = plan::contentHash(weights.data.get(), entry.bytes);
    entry.data = weights.data;
    const auto [begin, end] = weights_.equal_range(entry.hash);
    for (auto it = begin; it != end; ++it) {
      const plan::Weight& other = plan_.weights[static_cast<size_t>(it->second)];
      const bool equal = other.dtype == entry.dtype && other.dims == entry.dims &&
                         (entry.bytes == 0 || other.data == entry.data ||
                          std::memcmp(other.data.get(), entry.data.get(), entry.bytes) == 0);
      if (equal) {
        return it->second;
      }
    }
    const auto index = static_cast<int32_t>(plan_.weights.size());
    weights_.emplace(entry.hash, index);
    plan_.weights.push_back(std::move(entry));
    return index;
  }

  // True if the output's elements are the input's, where they lie.
  static bool isView(const Layer& layer) {
    if (layer.getType() != LayerType::kIDENTITY && layer.getType() != LayerType::kREFORMAT &&
        layer.getType() != LayerType::kSHUFFLE) {
      return false;
    }
    const Tensor& input = *layer.getInput(0);
    const Tensor& output = *layer.getOutput(0);
    if (layer.getType() != LayerType::kSHUFFLE) {
      return sameMemory(input.getDimensions(), input.memoryOrder(), output.memoryOrder());
    }
    const std::optional<Order> order = shuffledOrder(input.getDimensions(), input.memoryOrder(), shuffleOf(layer));
    return order && sameMemory(output.getDimensions(), *order, output.memoryOrder());
  }

  void emitStep(const Layer& layer) {
    plan::Step step;
    step.family = layer.info().name;
    step.name = layer.getName();
    step.location = layer.location();
    for (const auto& [name, value] : layer.attributes().values()) {
      if (const Dims* dims = std::get_if<Dims>(&value)) {
        const bool reshape = layer.getType() == LayerType::kSHUFFLE && name == "reshape_dims";
        step.dims.emplace_back(name, program_.compile(reshape ? shuffleOf(layer).middle : *dims));
      } else {
        step.attributes.set(name, value);
      }
    }
    if (layer.getType() == LayerType::kPLUGIN_V2) {
      const std::string library = plugin::PluginRegistry::global().libraryOf(layer.attributes());
      if (!library.empty()) {
        step.attributes.set("library", library);
      }
    }
    for (int i = 0; i < layer.getNbInputs(); ++i) {
      step.inputs.push_back(layer.getInput(i) == nullptr ? -1 : indexOf(*layer.getInput(i)));
    }
    for (int i = 0; i < layer.getNbOutputs(); ++i) {
      step.outputs.push_back(addTensor(*layer.getOutput(i)));
    }
    plan_.steps.push_back(std::move(step));
  }

  const Network& network_;
  plan::Plan plan_;
  ProgramBuilder program_;
  std::unordered_set<const Layer*> live_;
  std::unordered_map<const Tensor*, int32_t> tensors_;
  std::unordered_multimap<std::string, int32_t> weights_;
};

}  // namespace

plan::Plan emitPlan(const Network& network) {
  return Emitter(network).run();
}

}  // namespace torchtrt::builder
