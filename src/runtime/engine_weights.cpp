#include "runtime/engine_weights.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>

#include <c10/core/CPUAllocator.h>

#include "libtorch/versions.h"
#include "torchtrt/runtime.h"

namespace torchtrt::runtime {

namespace {

c10::weak_intrusive_ptr<c10::StorageImpl> weakStorageOf(const at::Tensor& tensor) {
  return c10::weak_intrusive_ptr<c10::StorageImpl>(
      c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(tensor.storage().unsafeGetStorageImpl()));
}

c10::weak_intrusive_ptr<c10::StorageImpl> noStorage() {
  return c10::weak_intrusive_ptr<c10::StorageImpl>(c10::intrusive_ptr<c10::StorageImpl>());
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
    const bool gone = isGivenAway(tensor);
    weights_.push_back({at::Tensor(), tensor.sizes().vec(), tensor.scalar_type(), tensor.nbytes(),
                        gone ? noStorage() : weakStorageOf(tensor), gone ? weakStorageOf(tensor) : noStorage()});
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

// A tensor of its own that requires grad is the mark: no weight does otherwise, and whoever does not know it loses
// nothing.
std::vector<at::Tensor> EngineWeights::toSave() const {
  std::vector<at::Tensor> tensors;
  tensors.reserve(weights_.size());
  for (size_t i = 0; i < weights_.size(); ++i) {
    const bool held = alive(weights_[i]).defined();
    tensors.push_back(at(i));
    if (!held && at::isFloatingType(weights_[i].dtype)) {
      const c10::InferenceMode no_inference(false);
      tensors.back().set_requires_grad(true);
    }
  }
  return tensors;
}

// While a file is read, libtorch has one more tensor for every storage. Every further reference is a reader's.
std::vector<bool> EngineWeights::exclusive(const std::vector<at::Tensor>& weights,
                                           const std::vector<at::Tensor>& kept) {
  struct Readers {
    size_t weights = 0;
    std::set<const c10::TensorImpl*> tensors;
  };
  std::map<const c10::StorageImpl*, Readers> of;
  const auto note = [&](const at::Tensor& tensor, size_t weight_count) {
    if (tensor.defined() && tensor.has_storage()) {
      Readers& readers = of[tensor.storage().unsafeGetStorageImpl()];
      readers.weights += weight_count;
      readers.tensors.insert(tensor.unsafeGetTensorImpl());
    }
  };
  std::for_each(weights.begin(), weights.end(), [&](const at::Tensor& tensor) { note(tensor, 1); });
  std::for_each(kept.begin(), kept.end(), [&](const at::Tensor& tensor) { note(tensor, 0); });
  std::vector<bool> exclusive;
  exclusive.reserve(weights.size());
  for (const at::Tensor& tensor : weights) {
    const bool marked = tensor.defined() && tensor.has_storage() && tensor.requires_grad() && canBeLetGo(tensor);
    const bool python_has_it = marked && libtorch::isKnownToPython(tensor);
    const Readers& readers = of[marked ? tensor.storage().unsafeGetStorageImpl() : nullptr];
    exclusive.push_back(marked && !python_has_it && readers.weights == 1 &&
                        tensor.storage().use_count() == readers.tensors.size() + 1);
  }
  return exclusive;
}

// The system gets whole pages back first: malloc would keep what is freed below its top, up to 32 MB a piece. Not of
// memory that libtorch did not allocate for this tensor: it may have other owners.
void EngineWeights::giveAway(const at::Tensor& tensor) {
  if (!canBeLetGo(tensor)) {
    return;
  }
#ifdef MADV_DONTNEED
  const bool is_sole = tensor.storage().data_ptr().get_deleter() == c10::GetCPUAllocator()->raw_deleter();
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGE_SIZE));
  const auto begin = reinterpret_cast<uintptr_t>(tensor.storage().data());
  const uintptr_t from = (begin + page - 1) / page * page;
  const uintptr_t to = (begin + tensor.storage().nbytes()) / page * page;
  if (is_sole && from < to) {
    madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
  }
#endif
  tensor.storage().set_data_ptr_noswap(c10::DataPtr(nullptr, c10::kCPU));
}

bool EngineWeights::isGivenAway(const at::Tensor& tensor) {
  return tensor.nbytes() != 0 && tensor.storage().data() == nullptr;
}

bool EngineWeights::areSame(const std::vector<at::Tensor>& others) const {
  return std::equal(weights_.begin(), weights_.end(), others.begin(), others.end(),
                    [this](const Weight& weight, const at::Tensor& other) {
                      if (isGivenAway(other)) {
                        return weight.given_away.lock().get() == other.storage().unsafeGetStorageImpl();
                      }
                      const at::Tensor tensor = alive(weight);
                      return tensor.defined() && tensor.const_data_ptr() == other.const_data_ptr() &&
                             tensor.nbytes() == other.nbytes();
                    });
}

std::optional<size_t> EngineWeights::findLetGo(const at::Tensor& tensor) const {
  if (!tensor.has_storage() || tensor.nbytes() == 0) {
    return std::nullopt;
  }
  const c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
  for (size_t i = 0; i < weights_.size(); ++i) {
    const Weight& weight = weights_[i];
    if (!weight.held.defined() && weight.dtype == tensor.scalar_type() &&
        (storageOf(weight).get() == storage || weight.given_away.lock().get() == storage)) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace torchtrt::runtime
