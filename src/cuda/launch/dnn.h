// Plans of cuDNN: a graph of operations on tensors, and an engine of the library that computes it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cuda/driver/cudnn.h"
#include "cuda/launch/aligned.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/layout.h"

namespace torchtrt::cuda {

class DnnPlan;

// A handle of the library for a device. It works on one stream at a time, and its plans run in one thread at a time.
struct DnnLibrary {
  const Cudnn& api;
  dnn::Handle handle = nullptr;
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<const DnnPlan>> plans;  // in use, by what they compute
  std::set<std::string> refused;                              // what the library has no engine for

  // Null where it does not start: it may be too new for the driver.
  static DnnLibrary* of(const CudaDevice& device, const Cudnn& api);
  // Equal texts share a plan as long as it is in use; some take the library a second. `build` gives null if there is
  // none.
  std::shared_ptr<const DnnPlan> plan(const std::string& text,
                                      const std::function<std::shared_ptr<const DnnPlan>()>& build);
};

// Its pointers are those of the graph's tensors by their numbers, all at multiples of 16 bytes, and the workspace last.
class DnnPlan final : public StreamCall {
 public:
  static constexpr int64_t kAlignment = kChunkBytes;

  size_t workspaceBytes() const {  // to reserve
    return cuda::workspaceBytes(workspace_);
  }
  void run(const DevicePointer* pointers, StreamHandle stream) const override;
  bool readsAhead(size_t argument) const override;

 private:
  friend class DnnGraph;
  using Objects = std::vector<std::unique_ptr<void, dnn::Status (*)(void*)>>;

  DnnPlan(DnnLibrary& library, std::string name, int64_t pointers)
      : library_(library), purpose_(std::move(name) + " on the GPU"), pointers_(pointers) {}

  DnnLibrary& library_;
  std::string purpose_;
  int64_t pointers_;  // before the workspace
  Objects objects_;   // the plan and what it refers to
  dnn::Object plan_ = nullptr;
  std::vector<int64_t> ids_;    // of the tensors with a pointer
  std::vector<int64_t> ahead_;  // of those that kernels may read before the work in front has ended
  std::deque<float> values_;    // what some tensors are, on the host
  std::vector<std::pair<int64_t, const float*>> by_value_;
  size_t workspace_ = 0;
};

// Builds a plan. The first thing that the library refuses ends it; there is no plan then.
class DnnGraph {
 public:
  // `name`: "a convolution"; `dtype` is that of operands, whose float32 factors may be rounded to TF32 if `tf32`.
  DnnGraph(DnnLibrary& library, const std::string& name, DType dtype, int64_t pointers, bool tf32 = false);

 protected:
  using Owned = std::unique_ptr<void, dnn::Status (*)(void*)>;
  static constexpr int64_t kFirstVirtual = 100;  // the number of the first tensor that lies nowhere

  static int typeOf(DType dtype);
  int precision() const {  // what is computed in
    return precision_;
  }
  Owned create(int kind);
  void note(dnn::Status status);
  template <typename T>
  void set(dnn::Object object, int attribute, dnn::Type type, const T& value) {
    note(api_.set(object, attribute, type, 1, &value));
  }
  void set(dnn::Object object, int attribute, const Ints& values);
  void trySet(dnn::Object object, int attribute, dnn::Type type, const int& value) {
    api_.set(object, attribute, type, 1, &value);
  }
  // Keeps it as long as the plan.
  dnn::Object finished(Owned object);
  dnn::Object tensor(int64_t id, int type, const Ints& dims, const Ints& strides);
  dnn::Object number(int64_t id, float value, size_t rank);
  // Says that kernels of the library may read a tensor before the work in front of them has ended.
  void setReadAhead(int64_t id) {
    plan_->ahead_.push_back(id);
  }

  // The engines in the order of the library's heuristics; only those that give the same bits each time and compute in
  // full precision, or in TF32 where that is allowed.
  std::shared_ptr<const DnnPlan> plan(const std::vector<dnn::Object>& operations);

 private:
  void logLastError() const;
  std::vector<Owned> configurations(int mode);
  bool isExact(dnn::Object configuration);
  bool tryEnginesOf(int mode);

  DnnLibrary& library_;
  const Cudnn& api_;
  DType dtype_;
  int precision_;
  bool tf32_;
  std::shared_ptr<DnnPlan> plan_;
  bool is_right_ = true;
  dnn::Object graph_ = nullptr;
};

}  // namespace torchtrt::cuda
