// The weights that an engine was loaded with, for saving it and for the segment it keeps. Originals that the engine can
// restore from what its kernels packed are let go, and restored where somebody asks: they would be in memory twice.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <torch/script.h>

#include "torchtrt/engine.h"
#include "torchtrt/export.h"

namespace torchtrt::runtime {

enum class Originals : uint8_t { kHold, kLetGo };

class TORCHTRT_API EngineWeights {
 public:
  EngineWeights(std::vector<at::Tensor> given, std::shared_ptr<const engine::Engine> engine, Originals originals);

  // All, in the plan's order. One that was let go is the original where somebody else still holds it, what was restored
  // before where that is still held, or restored now: callers share it. Throws EngineError when there is no memory.
  std::vector<at::Tensor> all() const;
  at::Tensor at(size_t index) const;
  // The same for a file: those that nobody else holds say so, see exclusive().
  std::vector<at::Tensor> toSave() const;
  // Marks the weights that only their engine asks for, among those that libtorch just read and the rest of the file.
  // Their memory may go while it is loaded. `kept` was read with them for the same engine.
  static std::vector<bool> exclusive(const std::vector<at::Tensor>& weights, const std::vector<at::Tensor>& kept);
  // Gives the memory of such a weight away before its tensors go: libtorch holds them until all of a file is read, and
  // a compile until the engine is there.
  static void giveAway(const at::Tensor& tensor);
  static bool isGivenAway(const at::Tensor& tensor);
  // True if these are the very same memory; restores nothing.
  bool areSame(const std::vector<at::Tensor>& others) const;
  // The weight in whose memory a tensor lies, or lay, if that one was let go.
  std::optional<size_t> findLetGo(const at::Tensor& tensor) const;

 private:
  struct Weight {
    at::Tensor held;  // undefined where it was let go
    std::vector<int64_t> dims;
    at::ScalarType dtype = at::kFloat;
    size_t bytes = 0;
    mutable c10::weak_intrusive_ptr<c10::StorageImpl> storage;
    c10::weak_intrusive_ptr<c10::StorageImpl> given_away;  // what it was loaded from, without memory since
  };

  static bool canBeLetGo(const at::Tensor& tensor);
  static at::Tensor tensorIn(c10::intrusive_ptr<c10::StorageImpl> storage, const Weight& weight);
  c10::intrusive_ptr<c10::StorageImpl> storageOf(const Weight& weight) const;  // null where nobody holds it
  at::Tensor alive(const Weight& weight) const;
  at::Tensor restore(size_t index) const;

  std::shared_ptr<const engine::Engine> engine_;
  std::vector<Weight> weights_;
  mutable std::mutex mutex_;  // of the weights' storages
};

}  // namespace torchtrt::runtime
