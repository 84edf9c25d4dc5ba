// Tensors: names, types on request, constant data.
#include <algorithm>

#include "network/network_impl.h"

namespace torchtrt::network {

const std::string& Tensor::getName() const {
  return name_;
}

void Tensor::setName(const std::string& name) {
  if (name == name_) {
    return;
  }
  network_->impl_->tensor_names.release(name_);
  name_ = network_->impl_->tensor_names.claim(name, this);
}

const Dims& Tensor::getDimensions() const {
  if (producer_ != nullptr) {
    Network::infer(*producer_);
  }
  return dims_;
}

DType Tensor::getType() const {
  if (producer_ != nullptr) {
    Network::infer(*producer_);
  }
  return dtype_;
}

// True if both types are already inferred and the same. A reader of one then has the same types when it reads the
// other.
bool Tensor::hasKnownTypeOf(const Tensor& other) const {
  const auto known = [](const Tensor& tensor) { return tensor.producer_ == nullptr || !tensor.producer_->stale_; };
  return known(*this) && known(other) && dtype_ == other.dtype_ && dims_ == other.dims_;
}

bool Tensor::isNetworkOutput() const {
  const auto& outputs = network_->impl_->outputs;
  return std::any_of(outputs.begin(), outputs.end(), [this](const auto& output) { return output.tensor == this; });
}

const Weights* Tensor::constant() const {
  return producer_ == nullptr ? nullptr : producer_->weights();
}

}  // namespace torchtrt::network
