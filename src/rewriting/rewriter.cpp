#include <algorithm>

#include "base/check.h"
#include "torchtrt/rewriting.h"

namespace torchtrt::rewriting {

namespace {

constexpr size_t kScopesNamed = 4;  // in a merged location; the rest becomes "..."

}  // namespace

Location mergeLocations(const std::vector<Location>& locations) {
  Location merged;
  std::vector<std::string> scopes;
  for (const Location& location : locations) {
    if (merged.file.empty() && !location.file.empty()) {
      merged = location;
    }
    // A location that was merged before brings several scopes, and "..." behind the fourth where there were more.
    for (size_t begin = 0; begin < location.scope.size();) {
      const size_t separator = std::min(location.scope.find(" + ", begin), location.scope.size());
      const std::string scope = location.scope.substr(begin, separator - begin);
      if (std::find(scopes.begin(), scopes.end(), scope) == scopes.end()) {
        scopes.push_back(scope);
      }
      begin = separator == location.scope.size() ? separator : separator + 3;
    }
  }
  merged.scope.clear();
  for (size_t i = 0; i < std::min(scopes.size(), kScopesNamed); ++i) {
    merged.scope += (i == 0 ? "" : " + ") + scopes[i];
  }
  if (scopes.size() > kScopesNamed) {
    merged.scope += " + ...";
  }
  return merged;
}

void Rewriter::addListener(RewriteListener& listener) {
  listeners_.push_back(&listener);
}

void Rewriter::begin(Layer& root) {
  root_ = &root;
  root_location_ = root.location();
  insertion_point_ = &root;
  position_lost_ = false;
  created_.clear();
  created_inputs_.clear();
  marked_.clear();
  merged_.clear();
}

void Rewriter::end() {
  for (size_t i = 0; i < marked_.size(); ++i) {
    if (marked_[i] && isDead(*marked_[i])) {
      removeLayer(*marked_[i]);
    }
  }
  replaceInputs();
  if (!created_.empty()) {
    // Producers before their users, so that the first location is where the fused computation begins.
    std::vector<Location> locations(merged_.rbegin(), merged_.rend());
    locations.push_back(root_location_);
    const Location location = mergeLocations(locations);
    for (Layer* layer : created_) {
      layer->setLocation(location);
    }
  }
  root_ = nullptr;
  insertion_point_ = nullptr;
  position_lost_ = false;
}

Layer& Rewriter::adopt(Layer* layer) {
  created_.push_back(layer);
  for (RewriteListener* listener : listeners_) {
    listener->layerCreated(*layer);
  }
  return *layer;
}

void Rewriter::setInsertionPoint(Layer& before) {
  insertion_point_ = &before;
  position_lost_ = false;
}

Layer& Rewriter::create(LayerType type, const std::vector<Tensor*>& inputs, Attributes attributes) {
  TORCHTRT_CHECK(!position_lost_, "create layers before the root is removed, or set another insertion point");
  return adopt(network_.addLayer(type, inputs, std::move(attributes), insertion_point_));
}

Tensor& Rewriter::createConstant(const Weights& weights) {
  TORCHTRT_CHECK(!position_lost_, "create constants before the root is removed, or set another insertion point");
  return *adopt(network_.addConstant(weights, insertion_point_)).getOutput(0);
}

Tensor& Rewriter::createInput(const std::string& name, DType dtype, const Dims& dims) {
  Tensor* input = network_.addInput(name, dtype, dims);
  if (root_ != nullptr) {
    created_inputs_.emplace_back(name, input->id());
  }
  return *input;
}

void Rewriter::replaceInputs() {
  for (const auto& [name, id] : created_inputs_) {
    Tensor* input = network_.tensorById(id);
    Tensor* old = network_.findTensor(name);
    if (input != nullptr && old != nullptr && old != input && old->isNetworkInput() && old->uses().empty() &&
        !old->isNetworkOutput()) {
      const int index = old->outputIndex();
      network_.removeInput(*old);
      network_.moveInput(*input, index);
      input->setName(name);
    }
  }
}

void Rewriter::setInput(Layer& layer, int index, Tensor* tensor) {
  layer.setInput(index, tensor);
  for (RewriteListener* listener : listeners_) {
    listener->layerChanged(layer);
  }
}

void Rewriter::setAttribute(Layer& layer, const std::string& name, AttributeValue value) {
  layer.setAttribute(name, std::move(value));
  for (RewriteListener* listener : listeners_) {
    listener->layerChanged(layer);
  }
}

void Rewriter::eraseAttribute(Layer& layer, const std::string& name) {
  layer.eraseAttribute(name);
  for (RewriteListener* listener : listeners_) {
    listener->layerChanged(layer);
  }
}

void Rewriter::replaceAllUses(Tensor& from, Tensor& to) {
  TORCHTRT_CHECK(&from != &to, "tensor '" << from.getName() << "' cannot replace itself");
  TORCHTRT_CHECK(from.getType() == to.getType(), "tensor '" << to.getName() << "' of " << toString(to.getType())
                                                            << " cannot replace '" << from.getName() << "' of "
                                                            << toString(from.getType()));
  TORCHTRT_CHECK(from.getDimensions() == to.getDimensions(),
                 "tensor '" << to.getName() << "' of " << to.getDimensions().toString() << " cannot replace '"
                            << from.getName() << "' of " << from.getDimensions().toString());
  moveUses(from, to);
}

void Rewriter::replaceAllUsesByOtherType(Tensor& from, Tensor& to) {
  TORCHTRT_CHECK(&from != &to, "tensor '" << from.getName() << "' cannot replace itself");
  const size_t kept = to.uses().size();
  moveUses(from, to);
  for (size_t i = kept; i < to.uses().size(); ++i) {
    to.uses()[i].layer->getOutput(0)->getType();  // throws if the reader does not take it
  }
}

void Rewriter::moveUses(Tensor& from, Tensor& to) {
  const size_t moved = from.uses().size();
  network_.replaceAllUses(from, to);
  const bool is_new = std::find(created_.begin(), created_.end(), to.producer()) != created_.end();
  if (is_new && from.producer()) {
    const std::string name = from.getName();
    from.setName(name + ".replaced");
    to.setName(name);
    if (to.producer()->getNbOutputs() == 1) {
      std::string layer_name = name;
      if (from.producer()->getNbOutputs() == 1) {
        layer_name = from.producer()->getName();
        from.producer()->setName(layer_name + ".replaced");
      }
      to.producer()->setName(layer_name);
    }
  }
  for (RewriteListener* listener : listeners_) {
    listener->usesReplaced(from, to, moved);
  }
}

void Rewriter::replaceLayer(Layer& layer, const std::vector<Tensor*>& outputs) {
  TORCHTRT_CHECK(
      static_cast<int>(outputs.size()) <= layer.getNbOutputs(),
      "layer '" << layer.getName() << "' has " << layer.getNbOutputs() << " outputs, got " << outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i]) {
      replaceAllUses(*layer.getOutput(static_cast<int>(i)), *outputs[i]);
    }
  }
  removeIfDead(layer);
}

void Rewriter::markAsRemoved(Layer& layer) {
  marked_.push_back(&layer);
  for (RewriteListener* listener : listeners_) {
    listener->layerMarkedAsRemoved(layer);
  }
}

bool Rewriter::isDead(const Layer& layer) {
  for (int i = 0; i < layer.getNbOutputs(); ++i) {
    const Tensor& output = *layer.getOutput(i);
    if (!output.uses().empty() || output.isNetworkOutput()) {
      return false;
    }
  }
  return true;
}

void Rewriter::removeLayer(Layer& layer) {
  TORCHTRT_CHECK(isDead(layer), "layer '" << layer.getName() << "' is still used and cannot be removed");
  if (&layer == insertion_point_) {
    insertion_point_ = nullptr;
    position_lost_ = true;
  }
  if (&layer != root_ && layer.getType() != LayerType::kCONSTANT) {
    merged_.push_back(layer.location());
  }
  std::replace(marked_.begin(), marked_.end(), &layer, static_cast<Layer*>(nullptr));
  std::erase(created_, &layer);
  for (RewriteListener* listener : listeners_) {
    listener->layerRemoved(layer);
  }
  network_.removeLayer(layer);
}

bool Rewriter::removeIfDead(Layer& layer) {
  if (!isDead(layer)) {
    return false;
  }
  std::vector<Layer*> doomed = {&layer};
  while (!doomed.empty()) {
    Layer* next = doomed.back();
    doomed.pop_back();
    std::vector<Layer*> producers;
    for (int i = 0; i < next->getNbInputs(); ++i) {
      Tensor* input = next->getInput(i);
      Layer* producer = input ? input->producer() : nullptr;
      if (producer && std::find(producers.begin(), producers.end(), producer) == producers.end()) {
        producers.push_back(producer);
      }
    }
    removeLayer(*next);
    for (Layer* producer : producers) {
      if (isDead(*producer)) {
        doomed.push_back(producer);
      }
    }
  }
  return true;
}

}  // namespace torchtrt::rewriting
