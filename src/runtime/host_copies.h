// Copies of other devices' tensors on the CPU: engines copy their weights from there. Tensors that share memory there
// share it here.
#pragma once

#include <unordered_map>

#include <torch/script.h>

#include "torchtrt/export.h"

namespace torchtrt::runtime {

class TORCHTRT_API HostCopies {
 public:
  // The tensor itself where it is on the CPU, or has no data that could be copied.
  at::Tensor of(const at::Tensor& tensor);
  // True if a tensor lies in one of the copies.
  bool hold(const at::Tensor& tensor) const;

 private:
  struct Copy {
    c10::Storage original;  // kept, so that its address stays its name
    at::Tensor bytes;       // the whole storage
  };
  std::unordered_map<const c10::StorageImpl*, Copy> copies_;
};

}  // namespace torchtrt::runtime
