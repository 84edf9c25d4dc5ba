#include "torchtrt/flayer_info.h"

#include <algorithm>

#include "torchtrt/net_guard.h"
#include "torchtrt/rewriting.h"

namespace torchtrt::rewriting {

namespace {

// Calls `visit` with every tensor of the value, by reference to its pointer.
template <typename Visit>
void forEachTensor(FValue& value, Visit visit) {
  if (auto* one = std::get_if<Tensor*>(&value)) {
    visit(*one);
  } else if (auto* many = std::get_if<std::vector<Tensor*>>(&value)) {
    std::for_each(many->begin(), many->end(), visit);
  }
}

// Runs the body with the rewriter of the patterns in progress, or with one of its own. Then new layers stand at the end
// of the network, and whoever reads them now has to move behind them.
template <typename Body>
void withRewriter(Network& network, Body body) {
  if (Rewriter* running = NetGuard::rewriterOf(network)) {
    body(*running);
    return;
  }
  Rewriter own(network);
  body(own);
  network.sortTopologically();
}

}  // namespace

const FValue* FInputs::find(std::string_view name) const {
  const auto found =
      std::find_if(values_.begin(), values_.end(), [&](const auto& entry) { return entry.first == name; });
  return found == values_.end() ? nullptr : &found->second;
}

void FInputs::set(const std::string& name, FValue value) {
  const auto found =
      std::find_if(values_.begin(), values_.end(), [&](const auto& entry) { return entry.first == name; });
  if (found == values_.end()) {
    values_.emplace_back(name, std::move(value));
  } else {
    found->second = std::move(value);
  }
}

Tensor* FInputs::tensor(std::string_view name) const {
  const FValue* value = find(name);
  if (value == nullptr || std::holds_alternative<std::monostate>(*value)) {
    return nullptr;
  }
  if (const auto* tensor = std::get_if<Tensor*>(value)) {
    return *tensor;
  }
  throw CompileError(ErrorCode::kInvalidOption, "argument '" + std::string(name) + "' is no tensor");
}

FLayerInfo::FLayerInfo(Network* network, std::string function, std::shared_ptr<std::mutex> mutex)
    : network_(network), function_(std::move(function)), mutex_(std::move(mutex)) {}

FInputs FLayerInfo::cloneInputs() const {
  const std::lock_guard lock(*mutex_);
  return inputs_;
}

Tensor* FLayerInfo::getInput(std::string_view name) const {
  const std::lock_guard lock(*mutex_);
  if (inputs_.find(name) == nullptr) {
    std::string known;
    for (const auto& [argument, value] : inputs_.values()) {
      known += (known.empty() ? "" : ", ") + argument;
    }
    throw CompileError(ErrorCode::kInvalidOption,
                       "the record of " + function_ + " has no argument '" + std::string(name) + "', it has " + known);
  }
  return inputs_.tensor(name);
}

std::vector<Tensor*> FLayerInfo::outputs() const {
  const std::lock_guard lock(*mutex_);
  return outputs_;
}

std::vector<int64_t> FLayerInfo::layerIds() const {
  const std::lock_guard lock(*mutex_);
  return layer_ids_;
}

Network& FLayerInfo::networkOrThrow() const {
  if (network_ == nullptr) {
    throw CompileError(ErrorCode::kInvalidNetwork, "the network of this record of " + function_ + " is gone");
  }
  return *network_;
}

void FLayerInfo::replaceInputWith(Tensor& from, Tensor& to) {
  Network& network = networkOrThrow();
  withRewriter(network, [&](Rewriter& rewriter) {
    for (const int64_t id : layerIds()) {
      Layer* layer = network.layerById(id);
      for (int i = 0; layer != nullptr && i < layer->getNbInputs(); ++i) {
        if (layer->getInput(i) == &from) {
          rewriter.setInput(*layer, i, &to);
        }
      }
    }
  });
  FLayerInfoMemo::of(network).rename(*this, &from, &to);
}

void FLayerInfo::replaceOutputUsesWith(Tensor& output, Tensor& to) {
  withRewriter(networkOrThrow(), [&](Rewriter& rewriter) { rewriter.replaceAllUsesByOtherType(output, to); });
}

void FLayerInfo::replaceOutputsUsesWith(const std::vector<Tensor*>& replacements) {
  const std::vector<Tensor*> old = outputs();
  if (replacements.size() != old.size()) {
    throw CompileError(ErrorCode::kInvalidOption, function_ + " has " + std::to_string(old.size()) + " outputs, got " +
                                                      std::to_string(replacements.size()) + " tensors to replace them");
  }
  for (size_t i = 0; i < old.size(); ++i) {
    if (old[i] != nullptr && replacements[i] != nullptr) {
      replaceOutputUsesWith(*old[i], *replacements[i]);
    }
  }
}

FLayerInfoMemo::FLayerInfoMemo(Network* network) : network_(network), mutex_(std::make_shared<std::mutex>()) {}

FLayerInfoMemo::~FLayerInfoMemo() {
  for (auto& [id, info] : by_layer_) {
    const std::lock_guard lock(*info->mutex_);
    info->network_ = nullptr;
    for (auto& [name, value] : info->inputs_.values_) {
      forEachTensor(value, [](Tensor*& tensor) { tensor = nullptr; });
    }
    info->outputs_.assign(info->outputs_.size(), nullptr);
  }
}

FLayerInfoMemo& FLayerInfoMemo::instance() {
  Network* network = NetGuard::current();
  if (network == nullptr) {
    throw CompileError(ErrorCode::kInvalidOption, "no network is current here", {},
                       "enter a NetGuard (net_guard in Python) of the network first");
  }
  return of(*network);
}

FLayerInfoMemo& FLayerInfoMemo::of(Network& network) {
  static std::mutex creation;
  const std::lock_guard lock(creation);
  if (!network.observer()) {
    network.setObserver(std::shared_ptr<FLayerInfoMemo>(new FLayerInfoMemo(&network)));
  }
  auto* memo = dynamic_cast<FLayerInfoMemo*>(network.observer().get());
  if (memo == nullptr) {
    throw InternalError("network '" + network.name() + "' has an observer that is no FLayerInfoMemo");
  }
  return *memo;
}

std::shared_ptr<FLayerInfo> FLayerInfoMemo::get(std::string_view layer_name) const {
  const Layer* layer = network_->findLayer(layer_name);
  return layer == nullptr ? nullptr : get(*layer);
}

std::shared_ptr<FLayerInfo> FLayerInfoMemo::get(const Layer& layer) const {
  const std::lock_guard lock(*mutex_);
  const auto found = by_layer_.find(layer.id());
  return found == by_layer_.end() ? nullptr : found->second;
}

size_t FLayerInfoMemo::size() const {
  const std::lock_guard lock(*mutex_);
  std::vector<const FLayerInfo*> infos;
  for (const auto& [id, info] : by_layer_) {
    infos.push_back(info.get());
  }
  std::sort(infos.begin(), infos.end());
  return static_cast<size_t>(std::unique(infos.begin(), infos.end()) - infos.begin());
}

void FLayerInfoMemo::layerAdded(Layer& layer) {
  const std::lock_guard lock(*mutex_);
  if (!open_.empty()) {
    open_.back()->push_back(layer.id());
  }
}

void FLayerInfoMemo::layerRemoved(Layer& layer) {
  const std::lock_guard lock(*mutex_);
  for (std::vector<int64_t>* open : open_) {
    std::erase(*open, layer.id());
  }
  const auto found = by_layer_.find(layer.id());
  if (found != by_layer_.end()) {
    std::erase(found->second->layer_ids_, layer.id());
    by_layer_.erase(found);
  }
}

// An operand of one layer: its record follows unless another layer of the record still reads the old tensor.
void FLayerInfoMemo::operandChanged(Layer& layer, Tensor* from, Tensor* to) {
  std::shared_ptr<FLayerInfo> info = get(layer);
  if (!info || to == nullptr) {
    return;
  }
  for (const Tensor::Use& use : from->uses()) {
    if (get(*use.layer) == info) {
      return;
    }
  }
  rename(*info, from, to);
}

void FLayerInfoMemo::usesReplaced(Tensor& from, Tensor& to) {
  std::vector<std::weak_ptr<FLayerInfo>> infos;
  {
    const std::lock_guard lock(*mutex_);
    const auto found = by_tensor_.find(&from);
    if (found == by_tensor_.end()) {
      return;
    }
    infos = found->second;
  }
  for (const std::weak_ptr<FLayerInfo>& weak : infos) {
    if (const auto info = weak.lock()) {
      rename(*info, &from, &to);
    }
  }
}

void FLayerInfoMemo::tensorRemoved(Tensor& tensor) {
  const std::lock_guard lock(*mutex_);
  const auto found = by_tensor_.find(&tensor);
  if (found == by_tensor_.end()) {
    return;
  }
  const auto forget = [&](Tensor*& held) { held = held == &tensor ? nullptr : held; };
  for (const std::weak_ptr<FLayerInfo>& weak : found->second) {
    if (const auto info = weak.lock()) {
      for (auto& [name, value] : info->inputs_.values_) {
        forEachTensor(value, forget);
      }
      std::for_each(info->outputs_.begin(), info->outputs_.end(), forget);
    }
  }
  by_tensor_.erase(found);
}

void FLayerInfoMemo::rename(FLayerInfo& info, const Tensor* from, Tensor* to) {
  const std::lock_guard lock(*mutex_);
  bool renamed = false;
  for (auto& [name, value] : info.inputs_.values_) {
    forEachTensor(value, [&](Tensor*& held) {
      renamed = renamed || held == from;
      held = held == from ? to : held;
    });
  }
  const auto entry = info.layer_ids_.empty() ? by_layer_.end() : by_layer_.find(info.layer_ids_.front());
  if (renamed && entry != by_layer_.end()) {
    by_tensor_[to].push_back(entry->second);
  }
}

void FLayerInfoMemo::index(const std::shared_ptr<FLayerInfo>& info) {
  for (const int64_t id : info->layer_ids_) {
    by_layer_[id] = info;
  }
  const auto name = [&](Tensor* tensor) {
    if (tensor != nullptr) {
      by_tensor_[tensor].push_back(info);
    }
  };
  for (auto& [argument, value] : info->inputs_.values_) {
    forEachTensor(value, name);
  }
  std::for_each(info->outputs_.begin(), info->outputs_.end(), name);
}

std::shared_ptr<network::NetworkObserver> FLayerInfoMemo::cloneFor(const Network& copy) const {
  auto memo = std::shared_ptr<FLayerInfoMemo>(new FLayerInfoMemo(const_cast<Network*>(&copy)));
  const std::lock_guard lock(*mutex_);
  const auto translate = [&](Tensor*& tensor) { tensor = tensor == nullptr ? nullptr : copy.tensorById(tensor->id()); };
  for (const auto& [id, info] : by_layer_) {
    if (info->layer_ids_.front() != id) {
      continue;  // copied with its first layer
    }
    auto twin = std::shared_ptr<FLayerInfo>(new FLayerInfo(memo->network_, info->function_, memo->mutex_));
    twin->inputs_ = info->inputs_;
    twin->outputs_ = info->outputs_;
    twin->layer_ids_ = info->layer_ids_;
    for (auto& [name, value] : twin->inputs_.values_) {
      forEachTensor(value, translate);
    }
    std::for_each(twin->outputs_.begin(), twin->outputs_.end(), translate);
    memo->index(twin);
  }
  return memo;
}

void FLayerInfoMemo::open(std::vector<int64_t>& layer_ids) {
  const std::lock_guard lock(*mutex_);
  open_.push_back(&layer_ids);
}

void FLayerInfoMemo::close(std::vector<int64_t>& layer_ids) {
  const std::lock_guard lock(*mutex_);
  std::erase(open_, &layer_ids);
}

void FLayerInfoMemo::add(std::string function, FInputs inputs, std::vector<Tensor*> outputs,
                         std::vector<int64_t> layer_ids) {
  const std::lock_guard lock(*mutex_);
  auto info = std::shared_ptr<FLayerInfo>(new FLayerInfo(network_, std::move(function), mutex_));
  info->inputs_ = std::move(inputs);
  info->outputs_ = std::move(outputs);
  info->layer_ids_ = std::move(layer_ids);
  index(info);
}

SignatureRecorder::SignatureRecorder(Network& network, std::string function, FInputs inputs)
    : memo_(FLayerInfoMemo::of(network)), function_(std::move(function)), inputs_(std::move(inputs)) {
  memo_.open(layer_ids_);
}

SignatureRecorder::~SignatureRecorder() {
  memo_.close(layer_ids_);
}

void SignatureRecorder::finish(std::vector<Tensor*> outputs) {
  memo_.close(layer_ids_);
  if (!layer_ids_.empty()) {
    memo_.add(std::move(function_), std::move(inputs_), std::move(outputs), std::move(layer_ids_));
  }
}

}  // namespace torchtrt::rewriting
