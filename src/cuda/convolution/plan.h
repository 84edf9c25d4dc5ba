// A convolution by cuDNN, with what follows it: a graph of operations, and an engine of the library that computes it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cuda/driver/cudnn.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/layout.h"

namespace torchtrt::cuda {

// Dims and strides of batch, channels and two or three places.
struct DnnTensor {
  DType dtype = DType::kFloat32;
  Ints dims, strides;
};

// An activation of cuDNN's.
struct DnnActivation {
  int mode = dnn::kRelu;
  double slope = 0;  // of relu below zero
  std::optional<double> most;
};

// y = activation(convolution of x + bias + residual). Of the transposed convolution, x is what the forward one gives.
struct DnnProblem {
  bool is_transposed = false;
  DnnTensor x, weights, y;
  Ints stride, pre_padding, post_padding, dilation;
  bool adds_bias = false;
  bool adds_residual = false;  // as y lies
  std::optional<DnnActivation> activation;

  std::string text() const;  // equal for equal problems
};

// Its pointers: x, weights, y, bias, residual, workspace; all but the workspace at multiples of 16 bytes.
class DnnPlan final : public StreamCall {
 public:
  static constexpr int64_t kAlignment = 16;

  // Deterministic, in full precision. Null if the library does not start, or computes no such graph. Equal problems
  // share a plan as long as it is in use.
  static std::shared_ptr<const DnnPlan> make(const CudaDevice& device, const Cudnn& api, const DnnProblem& problem);

  size_t workspaceBytes() const {  // to reserve
    return cuda::workspaceBytes(workspace_);
  }
  void run(const DevicePointer* pointers, StreamHandle stream) const override;

 private:
  // A handle works on one stream at a time, and a plan runs in one thread at a time.
  struct Library {
    const Cudnn& api;
    dnn::Handle handle = nullptr;
    std::mutex mutex;
  };
  friend class DnnGraph;
  using Objects = std::vector<std::unique_ptr<void, dnn::Status (*)(void*)>>;

  explicit DnnPlan(Library& library) : library_(library) {}
  static Library* libraryOf(const CudaDevice& device, const Cudnn& api);

  Library& library_;
  Objects objects_;  // the plan and what it refers to
  dnn::Object plan_ = nullptr;
  std::vector<int64_t> ids_;  // of the tensors with a pointer: their places among the pointers
  size_t workspace_ = 0;
};

}  // namespace torchtrt::cuda
