// The differences between the releases of libtorch that torchtrt builds with. Code of the TorchScript side uses these
// names and asks for no release itself. A name is asked for where the headers show if it is there, since only some of
// the releases are tried.
#pragma once

#include <ATen/core/Tensor.h>

namespace torchtrt::libtorch {

// True for a tensor whose dimensions have names. Newer releases have no such tensors.
template <typename Tensor = at::Tensor>
bool hasNames(const Tensor& tensor) {
  if constexpr (requires { tensor.has_names(); }) {
    return tensor.has_names();
  } else {
    return false;
  }
}

// True if Python holds the tensor, or has held it. Older releases tell by the interpreter; newer ones have one
// interpreter alone.
template <typename Tensor = at::Tensor>
bool isKnownToPython(const Tensor& tensor) {
  auto* const slot = tensor.unsafeGetTensorImpl()->pyobj_slot();
  if constexpr (requires { slot->pyobj_interpreter(); }) {
    return slot->pyobj_interpreter() != nullptr;
  } else {
    return slot->load_pyobj() != nullptr;
  }
}

}  // namespace torchtrt::libtorch
