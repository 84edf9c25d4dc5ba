// The order of layers.
#include <algorithm>
#include <functional>

#include "network/network_impl.h"

namespace torchtrt::network {
namespace {

// A layer that a cycle keeps from being placed. The layers are whole again when this is thrown.
[[noreturn]] void failCycle(const Layer& layer) {
  throw CompileError(ErrorCode::kInvalidNetwork, "layer \"" + layer.getName() + "\" depends on its own output",
                     layer.location(), "undo the edit that closed the cycle");
}

}  // namespace

void Network::sortTopologically() {
  // Kahn's algorithm; of the layers that are ready, the one that came first goes first, so a sorted network stays as it
  // is.
  const std::vector<Layer*> layers = this->layers();
  std::unordered_map<const Layer*, size_t> position;
  std::vector<int> waiting(layers.size(), 0);
  std::vector<size_t> ready;  // a heap, smallest position on top
  for (size_t i = 0; i < layers.size(); ++i) {
    position[layers[i]] = i;
    for (const Tensor* input : layers[i]->inputs_) {
      waiting[i] += static_cast<int>(input != nullptr && input->producer() != nullptr);
    }
    if (waiting[i] == 0) {
      ready.push_back(i);  // rising, which is a heap already
    }
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), std::greater<>());
    order.push_back(ready.back());
    ready.pop_back();
    for (const auto& output : layers[order.back()]->outputs_) {
      for (const Tensor::Use& use : output->uses()) {
        const size_t user = position.at(use.layer);
        if (--waiting[user] == 0) {
          ready.push_back(user);
          std::push_heap(ready.begin(), ready.end(), std::greater<>());
        }
      }
    }
  }
  if (order.size() != layers.size()) {
    const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](int count) { return count > 0; });
    failCycle(*layers[static_cast<size_t>(stuck - waiting.begin())]);
  }
  for (const size_t i : order) {
    impl_->layers.splice(impl_->layers.end(), impl_->layers, layers[i]->position_);
  }
  impl_->layers_by_index.clear();
}

}  // namespace torchtrt::network
