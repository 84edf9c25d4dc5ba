// The network: symbols, inputs, outputs, layers, and the edits that keep use lists and names true.
#include "torchtrt/network.h"

#include <algorithm>

#include "base/check.h"
#include "network/attribute_spec.h"
#include "network/network_impl.h"
#include "network/output_count.h"

namespace torchtrt::network {
Network::Network() : impl_(std::make_unique<Impl>()) {}
Network::~Network() = default;

void Network::Impl::admit(Tensor& tensor, const std::string& name) {
  tensor.id_ = next_tensor_id++;
  tensor.name_ = tensor_names.claim(name, &tensor);
  tensors_by_id.emplace(tensor.id_, &tensor);
}

void Network::Impl::dismiss(Tensor& tensor) {
  if (observer) {
    observer->tensorRemoved(tensor);
  }
  tensor_names.release(tensor.name_);
  tensors_by_id.erase(tensor.id_);
}

const std::string& Network::name() const {
  return impl_->name;
}

void Network::setName(const std::string& name) {
  impl_->name = name;
}

void Network::addSymbol(const Symbol& symbol) {
  Dim::symbol(symbol.name);  // throws for what is no name
  if (symbol.min < 0 || symbol.min > symbol.opt || symbol.opt > symbol.max) {
    throw CompileError(ErrorCode::kInvalidInputSpec,
                       "dimension " + symbol.name + " has the range [" + std::to_string(symbol.min) + ", " +
                           std::to_string(symbol.opt) + ", " + std::to_string(symbol.max) +
                           "], expected 0 <= min <= opt <= max");
  }
  const Symbol* known = findSymbol(symbol.name);
  if (known == nullptr) {
    impl_->symbols.push_back(symbol);
  } else if (known->min != symbol.min || known->opt != symbol.opt || known->max != symbol.max) {
    throw CompileError(ErrorCode::kInvalidInputSpec, "dimension " + symbol.name + " is declared with two ranges", {},
                       "give both inputs the same range, or the two dimensions different names");
  }
}

const Symbol* Network::findSymbol(const std::string& name) const {
  const auto found = std::find_if(impl_->symbols.begin(), impl_->symbols.end(),
                                  [&](const Symbol& symbol) { return symbol.name == name; });
  return found == impl_->symbols.end() ? nullptr : &*found;
}

const std::vector<Symbol>& Network::symbols() const {
  return impl_->symbols;
}

Tensor* Network::addInput(const std::string& name, DType dtype, const Dims& dims) {
  auto tensor = std::unique_ptr<Tensor>(new Tensor);
  tensor->network_ = this;
  tensor->dtype_ = dtype;
  tensor->dims_ = dims;
  tensor->output_index_ = getNbInputs();
  impl_->admit(*tensor, name);
  impl_->inputs.push_back(std::move(tensor));
  return impl_->inputs.back().get();
}

void Network::markOutput(Tensor& tensor, const std::string& name) {
  TORCHTRT_CHECK(tensor.network() == this, "tensor \"" << tensor.getName() << "\" is of another network");
  const std::string wanted = name.empty() ? tensor.getName() : name;
  const auto is_taken = [this](const std::string& candidate) {
    return std::any_of(impl_->outputs.begin(), impl_->outputs.end(),
                       [&](const Impl::Output& output) { return output.name == candidate; });
  };
  std::string unique = wanted;
  for (int i = 1; is_taken(unique); ++i) {
    unique = wanted + "_" + std::to_string(i);
  }
  impl_->outputs.push_back({unique, &tensor});
}

void Network::unmarkOutput(int index) {
  TORCHTRT_CHECK(index >= 0 && index < getNbOutputs(), "network output " << index << " of " << getNbOutputs());
  impl_->outputs.erase(impl_->outputs.begin() + index);
}

void Network::replaceOutput(int index, Tensor& tensor) {
  TORCHTRT_CHECK(index >= 0 && index < getNbOutputs(), "network output " << index << " of " << getNbOutputs());
  TORCHTRT_CHECK(tensor.network() == this, "tensor \"" << tensor.getName() << "\" is of another network");
  impl_->outputs[static_cast<size_t>(index)].tensor = &tensor;
}

void Network::removeInput(Tensor& tensor) {
  TORCHTRT_CHECK(tensor.network() == this && tensor.isNetworkInput(),
                 "tensor \"" << tensor.getName() << "\" is no input");
  TORCHTRT_CHECK(tensor.uses().empty() && !tensor.isNetworkOutput(), "input \"" << tensor.getName() << "\" is in use");
  impl_->dismiss(tensor);
  std::erase_if(impl_->inputs, [&](const auto& input) { return input.get() == &tensor; });
  numberInputs();
}

void Network::moveInput(Tensor& tensor, int index) {
  TORCHTRT_CHECK(tensor.network() == this && tensor.isNetworkInput(),
                 "tensor \"" << tensor.getName() << "\" is no input");
  TORCHTRT_CHECK(index >= 0 && index < getNbInputs(), "network input " << index << " of " << getNbInputs());
  auto& inputs = impl_->inputs;
  auto moved = std::move(inputs[static_cast<size_t>(tensor.output_index_)]);
  inputs.erase(inputs.begin() + tensor.output_index_);
  inputs.insert(inputs.begin() + index, std::move(moved));
  numberInputs();
}

void Network::numberInputs() {
  for (size_t i = 0; i < impl_->inputs.size(); ++i) {
    impl_->inputs[i]->output_index_ = static_cast<int>(i);
  }
}

int Network::getNbInputs() const {
  return static_cast<int>(impl_->inputs.size());
}

int Network::getNbOutputs() const {
  return static_cast<int>(impl_->outputs.size());
}

Tensor* Network::getInput(int i) const {
  TORCHTRT_CHECK(i >= 0 && i < getNbInputs(), "network input " << i << " of " << getNbInputs());
  return impl_->inputs[static_cast<size_t>(i)].get();
}

Tensor* Network::getOutput(int i) const {
  TORCHTRT_CHECK(i >= 0 && i < getNbOutputs(), "network output " << i << " of " << getNbOutputs());
  return impl_->outputs[static_cast<size_t>(i)].tensor;
}

const std::string& Network::getOutputName(int i) const {
  TORCHTRT_CHECK(i >= 0 && i < getNbOutputs(), "network output " << i << " of " << getNbOutputs());
  return impl_->outputs[static_cast<size_t>(i)].name;
}

int Network::getNbLayers() const {
  return static_cast<int>(impl_->layers.size());
}

Layer* Network::getLayer(int i) const {
  TORCHTRT_CHECK(i >= 0 && i < getNbLayers(), "layer " << i << " of " << getNbLayers());
  auto& index = impl_->layers_by_index;
  if (index.empty()) {
    index = layers();
  }
  return index[static_cast<size_t>(i)];
}

std::vector<Layer*> Network::layers() const {
  std::vector<Layer*> layers;
  layers.reserve(impl_->layers.size());
  for (const auto& layer : impl_->layers) {
    layers.push_back(layer.get());
  }
  return layers;
}

Layer* Network::findLayer(std::string_view name) const {
  return impl_->layer_names.find(name);
}

Tensor* Network::findTensor(std::string_view name) const {
  return impl_->tensor_names.find(name);
}

Layer* Network::layerById(int64_t id) const {
  const auto found = impl_->layers_by_id.find(id);
  return found == impl_->layers_by_id.end() ? nullptr : found->second;
}

Tensor* Network::tensorById(int64_t id) const {
  const auto found = impl_->tensors_by_id.find(id);
  return found == impl_->tensors_by_id.end() ? nullptr : found->second;
}

Layer* Network::addLayer(LayerType type, const std::vector<Tensor*>& inputs, Attributes attributes, Layer* before) {
  TORCHTRT_CHECK(before == nullptr || before->network() == this, "the layer to insert before is of another network");
  for (const Tensor* input : inputs) {
    TORCHTRT_CHECK(input == nullptr || input->network() == this,
                   "tensor \"" << input->getName() << "\" is of another network");
  }
  completeAttributes(type, inputs, attributes);
  const int outputs = outputCount(type, attributes, impl_->location);

  auto owned = std::unique_ptr<Layer>(new Layer);
  Layer* layer = owned.get();
  layer->network_ = this;
  layer->type_ = type;
  layer->id_ = impl_->next_id++;
  layer->location_ = impl_->location;
  layer->attributes_ = std::move(attributes);
  layer->name_ = impl_->layer_names.claim(std::string(layer->info().name) + "_" + std::to_string(layer->id_), layer);
  setOutputCount(*layer, outputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    layer->setInput(static_cast<int>(i), inputs[i]);
  }
  layer->position_ =
      impl_->layers.insert(before == nullptr ? impl_->layers.end() : before->position_, std::move(owned));
  impl_->layers_by_index.clear();
  impl_->layers_by_id.emplace(layer->id_, layer);
  if (impl_->observer) {
    impl_->observer->layerAdded(*layer);
  }
  return layer;
}

void Network::setOutputCount(Layer& layer, int count) {
  auto& outputs = layer.outputs_;
  const int old_count = layer.getNbOutputs();
  while (layer.getNbOutputs() > count) {
    Tensor& last = *outputs.back();
    TORCHTRT_CHECK(last.uses().empty() && !last.isNetworkOutput(), "output \"" << last.getName() << "\" is in use");
    impl_->dismiss(last);
    outputs.pop_back();
  }
  while (layer.getNbOutputs() < count) {
    auto tensor = std::unique_ptr<Tensor>(new Tensor);
    tensor->network_ = this;
    tensor->producer_ = &layer;
    tensor->output_index_ = layer.getNbOutputs();
    impl_->admit(*tensor, defaultOutputName(layer.name_, tensor->output_index_, count));
    outputs.push_back(std::move(tensor));
  }
  // The first output's default name depends on whether it is the only one.
  if (old_count > 0 && old_count != count && outputs[0]->name_ == defaultOutputName(layer.name_, 0, old_count)) {
    outputs[0]->setName(defaultOutputName(layer.name_, 0, count));
  }
}

void Network::removeLayer(Layer& layer) {
  TORCHTRT_CHECK(layer.network() == this, "layer \"" << layer.getName() << "\" is of another network");
  for (const auto& output : layer.outputs_) {
    TORCHTRT_CHECK(
        output->uses().empty() && !output->isNetworkOutput(),
        "layer \"" << layer.getName() << "\" cannot go: its output \"" << output->getName() << "\" is in use");
  }
  if (impl_->observer) {
    impl_->observer->layerRemoved(layer);
  }
  for (int i = 0; i < layer.getNbInputs(); ++i) {
    layer.setInput(i, nullptr);
  }
  for (const auto& output : layer.outputs_) {
    impl_->dismiss(*output);
  }
  impl_->layer_names.release(layer.getName());
  impl_->layers_by_id.erase(layer.id_);
  impl_->layers_by_index.clear();
  impl_->layers.erase(layer.position_);
}

void Network::replaceAllUses(Tensor& from, Tensor& to) {
  if (&from == &to) {
    return;
  }
  TORCHTRT_CHECK(from.network() == this && to.network() == this,
                 "tensors \"" << from.getName() << "\" and \"" << to.getName() << "\" are of different networks");
  const bool same_type = from.hasKnownTypeOf(to);
  const std::vector<Tensor::Use> uses = std::move(from.uses_);
  from.uses_.clear();
  to.uses_.insert(to.uses_.end(), uses.begin(), uses.end());
  for (const Tensor::Use& use : uses) {
    use.layer->inputs_[static_cast<size_t>(use.index)] = &to;
  }
  if (!same_type) {
    for (const Tensor::Use& use : uses) {
      invalidate(*use.layer);
    }
  }
  for (int i = 0; i < getNbOutputs(); ++i) {
    if (getOutput(i) == &from) {
      replaceOutput(i, to);
    }
  }
  if (impl_->observer) {
    impl_->observer->usesReplaced(from, to);
  }
}

void Network::setObserver(std::shared_ptr<NetworkObserver> observer) {
  impl_->observer = std::move(observer);
}

const std::shared_ptr<NetworkObserver>& Network::observer() const {
  return impl_->observer;
}

void Network::setCurrentLocation(Location location) {
  impl_->location = std::move(location);
}

const Location& Network::currentLocation() const {
  return impl_->location;
}

}  // namespace torchtrt::network
