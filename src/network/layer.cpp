// Layers: names, operands and attributes. Every change marks the layer and all behind it for inference.
#include <algorithm>

#include "base/check.h"
#include "network/attribute_spec.h"
#include "network/network_impl.h"
#include "network/output_count.h"

namespace torchtrt::network {

std::string defaultOutputName(const std::string& layer_name, int index, int count) {
  return count == 1 ? layer_name : layer_name + "." + std::to_string(index);
}

void Layer::setName(const std::string& name) {
  if (name == name_) {
    return;
  }
  const std::string old_name = name_;
  network_->impl_->layer_names.release(name_);
  name_ = network_->impl_->layer_names.claim(name, this);
  // Outputs that were named after the layer follow it.
  for (const auto& output : outputs_) {
    if (output->getName() == defaultOutputName(old_name, output->outputIndex(), getNbOutputs())) {
      output->setName(defaultOutputName(name_, output->outputIndex(), getNbOutputs()));
    }
  }
}

Tensor* Layer::getInput(int i) const {
  TORCHTRT_CHECK(i >= 0, "operand " << i << " of layer \"" << name_ << "\"");
  return i < getNbInputs() ? inputs_[static_cast<size_t>(i)] : nullptr;
}

void Layer::setInput(int i, Tensor* tensor) {
  TORCHTRT_CHECK(i >= 0 && i <= getNbInputs(),
                 "operand " << i << " of layer \"" << name_ << "\", which has " << getNbInputs());
  TORCHTRT_CHECK(tensor == nullptr || tensor->network() == network_,
                 "tensor \"" << tensor->getName() << "\" and layer \"" << name_ << "\" are of different networks");
  if (i == getNbInputs()) {
    inputs_.push_back(nullptr);
  }
  Tensor*& operand = inputs_[static_cast<size_t>(i)];
  if (operand == tensor) {
    return;
  }
  Tensor* const previous = operand;
  if (previous != nullptr) {
    auto& uses = previous->uses_;
    if (const auto use = std::find(uses.begin(), uses.end(), Tensor::Use{this, i}); use != uses.end()) {
      uses.erase(use);
    }
  }
  operand = tensor;
  if (tensor != nullptr) {
    tensor->uses_.push_back({this, i});
  }
  Network::invalidate(*this);
  if (const auto& observer = network_->impl_->observer; observer && previous != nullptr) {
    observer->operandChanged(*this, previous, tensor);
  }
}

Tensor* Layer::getOutput(int i) const {
  TORCHTRT_CHECK(i >= 0 && i < getNbOutputs(),
                 "output " << i << " of layer \"" << name_ << "\", which has " << getNbOutputs());
  return outputs_[static_cast<size_t>(i)].get();
}

void Layer::setAttribute(const std::string& name, AttributeValue value) {
  attributes_.set(name, toDeclaredType(type_, name, std::move(value)));
  network_->setOutputCount(*this, outputCount(type_, attributes_, location_));
  Network::invalidate(*this);
}

void Layer::eraseAttribute(const std::string& name) {
  attributes_.erase(name);
  network_->setOutputCount(*this, outputCount(type_, attributes_, location_));
  Network::invalidate(*this);
}

void Layer::setReshapeDimensions(const Dims& dims) {
  setAttribute("reshape_dims", dims);
}

void Layer::setFirstTranspose(const std::vector<int64_t>& permutation) {
  setAttribute("first_permutation", permutation);
}

void Layer::setSecondTranspose(const std::vector<int64_t>& permutation) {
  setAttribute("second_permutation", permutation);
}

void Layer::setStrideNd(const std::vector<int64_t>& stride) {
  setAttribute("stride", stride);
}

void Layer::setPaddingNd(const std::vector<int64_t>& padding) {
  setAttribute("pre_padding", padding);
  setAttribute("post_padding", padding);
}

void Layer::setPrePadding(const std::vector<int64_t>& padding) {
  setAttribute("pre_padding", padding);
}

void Layer::setPostPadding(const std::vector<int64_t>& padding) {
  setAttribute("post_padding", padding);
}

void Layer::setDilationNd(const std::vector<int64_t>& dilation) {
  setAttribute("dilation", dilation);
}

void Layer::setNbGroups(int64_t groups) {
  setAttribute("groups", groups);
}

void Layer::setAlpha(double alpha) {
  setAttribute("alpha", alpha);
}

void Layer::setBeta(double beta) {
  setAttribute("beta", beta);
}

void Layer::setAxis(int64_t axis) {
  setAttribute("axis", axis);
}

}  // namespace torchtrt::network
