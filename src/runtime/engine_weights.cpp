#include "runtime/engine_weights.h"

#include <cstddef>
#include <span>

#include "torchtrt/runtime.h"

namespace torchtrt::runtime {

namespace {

c10::weak_intrusive_ptr<c10::StorageImpl> weakStorageOf(const at::Tensor& tensor) {
  return c10::weak_intrusive_ptr<c10::StorageImpl>(
      c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(tensor.storage().unsafeGetStorageImpl()));
}

}  // namespace

// A storage that is this weight and nothing else: then a tensor in it can be made anew from dims and strides.
bool EngineWeights::canBeLetGo(const at::Tensor& tensor) {
  return tensor.nbytes() != 0 && tensor.is_contiguous() && tensor.storage_offset() == 0 &&
         tensor.storage().nbytes() == tensor.nbytes();
}

EngineWeights::EngineWeights(std::vector<at::Tensor> given, std::shared_ptr<const engine::Engine> engine,
                             Originals originals)
    : engine_(std::move(engine)) {
  weights_.reserve(given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    at::Tensor& tensor = given[i];
    const bool goes = originals == Originals::kLetGo && engine_->restoresWeight(i) && canBeLetGo(tensor);
    weights_.push_back(
        {at::Tensor(), tensor.sizes().vec(), tensor.scalar_type(), tensor.nbytes(), weakStorageOf(tensor)});
    if (!goes) {
      weights_.back().held = std::move(tensor);
    }
  }
}

at::Tensor EngineWeights::tensorIn(c10::intrusive_ptr<c10::StorageImpl> storage, const Weight& weight) {
  at::Tensor tensor = at::empty({0}, weight.dtype);
  return tensor.set_(c10::Storage(std::move(storage)), 0, weight.dims);
}

// Nothing of what is returned may be dropped under the lock: it may be the last reference, which runs its owner's code.
c10::intrusive_ptr<c10::StorageImpl> EngineWeights::storageOf(const Weight& weight) const {
  const std::lock_guard lock(mutex_);
  return weight.storage.lock();
}

// Undefined where nobody holds it.
at::Tensor EngineWeights::alive(const Weight& weight) const {
  if (weight.held.defined()) {
    return weight.held;
  }
  auto storage = storageOf(weight);
  return storage ? tensorIn(std::move(storage), weight) : at::Tensor();
}

at::Tensor EngineWeights::at(size_t index) const {
  const Weight& weight = weights_.at(index);
  const c10::InferenceMode no_inference(false);  // a tensor as it was loaded, wherever it will be used
  if (at::Tensor tensor = alive(weight); tensor.defined()) {
    return tensor;
  }
  at::Tensor restored = restore(index);
  c10::intrusive_ptr<c10::StorageImpl> storage;  // of another thread that was faster
  {
    const std::lock_guard lock(mutex_);
    storage = weight.storage.lock();
    if (!storage) {
      weight.storage = weakStorageOf(restored);
    }
  }
  return storage ? tensorIn(std::move(storage), weight) : restored;
}

// Not under the lock: it takes long, and a child forked meanwhile would find it locked for ever.
at::Tensor EngineWeights::restore(size_t index) const {
  const Weight& weight = weights_[index];
  at::Tensor tensor;
  try {
    tensor = at::empty(weight.dims, weight.dtype);
  } catch (const c10::Error&) {
    throw EngineError(ErrorCode::kOutOfMemory,
                      "restoring weight " + std::to_string(index) + " of engine \"" + engine_->name() +
                          "\": no memory for " + std::to_string(weight.bytes) + " bytes",
                      {}, "free some memory before the module is saved or falls back to PyTorch");
  }
  const std::span<std::byte> bytes(static_cast<std::byte*>(tensor.mutable_data_ptr()), weight.bytes);
  engine_->restoreWeight(index, bytes, callThreads());
  return tensor;
}

std::vector<at::Tensor> EngineWeights::all() const {
  std::vector<at::Tensor> tensors;
  tensors.reserve(weights_.size());
  for (size_t i = 0; i < weights_.size(); ++i) {
    tensors.push_back(at(i));
  }
  return tensors;
}

bool EngineWeights::areSame(const std::vector<at::Tensor>& others) const {
  return std::equal(weights_.begin(), weights_.end(), others.begin(), others.end(),
                    [this](const Weight& weight, const at::Tensor& other) {
                      const at::Tensor tensor = alive(weight);
                      return tensor.defined() && tensor.const_data_ptr() == other.const_data_ptr() &&
                             tensor.nbytes() == other.nbytes();
                    });
}

std::optional<size_t> EngineWeights::findLetGo(const at::Tensor& tensor) const {
  if (!tensor.has_storage() || tensor.nbytes() == 0) {
    return std::nullopt;
  }
  for (size_t i = 0; i < weights_.size(); ++i) {
    const Weight& weight = weights_[i];
    if (!weight.held.defined() && weight.dtype == tensor.scalar_type() &&
        storageOf(weight).get() == tensor.storage().unsafeGetStorageImpl()) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace torchtrt::runtime
