// Lazy inference: a change marks a layer and all layers behind it; asking for a type infers what is needed for it.
#include "network/network_impl.h"
#include "network/rules/rules.h"

namespace torchtrt::network {

void Network::invalidate(Layer& layer) {
  // Behind a stale layer everything is stale already. Explicit stack: networks are deeper than the call stack is.
  std::vector<Layer*> pending;
  if (!layer.stale_) {
    layer.stale_ = true;
    pending.push_back(&layer);
  }
  while (!pending.empty()) {
    const Layer* current = pending.back();
    pending.pop_back();
    for (const auto& output : current->outputs_) {
      for (const Tensor::Use& use : output->uses_) {
        if (!use.layer->stale_) {
          use.layer->stale_ = true;
          pending.push_back(use.layer);
        }
      }
    }
  }
}

void Network::infer(Layer& layer) {
  if (!layer.stale_) {
    return;
  }
  const auto stale_producer = [](const Layer& of) -> Layer* {
    for (const Tensor* input : of.inputs_) {
      if (input != nullptr && input->producer_ != nullptr && input->producer_->stale_) {
        return input->producer_;
      }
    }
    return nullptr;
  };
  const size_t layer_count = layer.network_->impl_->layers.size();
  std::vector<Layer*> path{&layer};
  while (!path.empty()) {
    Layer& current = *path.back();
    if (Layer* producer = stale_producer(current)) {
      if (path.size() > layer_count) {
        throw CompileError(ErrorCode::kInvalidNetwork, "layer \"" + current.getName() + "\" depends on its own output",
                           current.location(), "undo the edit that closed the cycle");
      }
      path.push_back(producer);
      continue;
    }
    const LayerContext context(current);
    checkRules(context);
    std::vector<TensorType> types = inferTypes(context);
    for (size_t i = 0; i < current.outputs_.size(); ++i) {
      current.outputs_[i]->dtype_ = types[i].dtype;
      current.outputs_[i]->dims_ = std::move(types[i].dims);
    }
    current.stale_ = false;
    path.pop_back();
  }
}

}  // namespace torchtrt::network
