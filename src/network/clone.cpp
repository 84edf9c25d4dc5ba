// Copies of networks: same names, ids and order; weights are shared.
#include "network/network_impl.h"

namespace torchtrt::network {

std::unique_ptr<Network> Network::clone() const {
  auto copy = std::make_unique<Network>();
  copy->impl_->name = impl_->name;
  copy->impl_->symbols = impl_->symbols;
  copy->impl_->location = impl_->location;
  std::unordered_map<const Tensor*, Tensor*> tensors;
  std::unordered_map<const Layer*, Layer*> layers;
  const auto copy_tensor = [&](const Tensor& from, Layer* producer) {
    auto tensor = std::unique_ptr<Tensor>(new Tensor);
    tensor->network_ = copy.get();
    tensor->producer_ = producer;
    tensor->output_index_ = from.output_index_;
    tensor->dtype_ = from.dtype_;
    tensor->dims_ = from.dims_;
    tensor->memory_order_ = from.memory_order_;
    tensor->name_ = copy->impl_->tensor_names.claim(from.name_, tensor.get());
    tensor->id_ = from.id_;
    copy->impl_->tensors_by_id.emplace(tensor->id_, tensor.get());
    tensors[&from] = tensor.get();
    return tensor;
  };
  for (const auto& input : impl_->inputs) {
    copy->impl_->inputs.push_back(copy_tensor(*input, nullptr));
  }
  for (const auto& from : impl_->layers) {
    auto layer = std::unique_ptr<Layer>(new Layer);
    layer->network_ = copy.get();
    layer->type_ = from->type_;
    layer->id_ = from->id_;
    layer->attributes_ = from->attributes_;
    layer->weights_ = from->weights_;
    layer->location_ = from->location_;
    layer->stale_ = from->stale_;
    layer->name_ = copy->impl_->layer_names.claim(from->name_, layer.get());
    for (const auto& output : from->outputs_) {
      layer->outputs_.push_back(copy_tensor(*output, layer.get()));
    }
    layers[from.get()] = layer.get();
    copy->impl_->layers_by_id.emplace(layer->id_, layer.get());
    Layer* added = layer.get();
    added->position_ = copy->impl_->layers.insert(copy->impl_->layers.end(), std::move(layer));
  }
  for (const auto& from : impl_->layers) {
    for (const Tensor* input : from->inputs_) {
      layers.at(from.get())->inputs_.push_back(input == nullptr ? nullptr : tensors.at(input));
    }
  }
  for (const auto& [from, tensor] : tensors) {
    for (const Tensor::Use& use : from->uses_) {
      tensor->uses_.push_back({layers.at(use.layer), use.index});
    }
  }
  for (const Impl::Output& output : impl_->outputs) {
    copy->impl_->outputs.push_back({output.name, tensors.at(output.tensor)});
  }
  copy->impl_->next_id = impl_->next_id;
  copy->impl_->next_tensor_id = impl_->next_tensor_id;
  if (impl_->observer) {
    copy->impl_->observer = impl_->observer->cloneFor(*copy);
  }
  return copy;
}

}  // namespace torchtrt::network
