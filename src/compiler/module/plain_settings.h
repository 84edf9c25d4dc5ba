// PyTorch computes while compiling as in a fresh thread of a fresh process. The caller's passing settings must not
// become part of the compiled module.
#pragma once

#include <ATen/core/grad_mode.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/ScalarType.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace torchtrt::compiler {

// Sets for its scope: no inference mode, no gradients, no autocast, float32 as the default dtype. The last is the
// process's: other threads see it for that time, so it is touched only if it is another one.
class PlainSettings {
 public:
  PlainSettings();
  ~PlainSettings();
  PlainSettings(const PlainSettings&) = delete;
  PlainSettings& operator=(const PlainSettings&) = delete;

 private:
  c10::InferenceMode no_inference_mode_{false};
  at::NoGradGuard no_gradients_;
  c10::impl::ExcludeDispatchKeyGuard no_autocast_{c10::autocast_dispatch_keyset};
  at::ScalarType autocast_dtype_;
  caffe2::TypeMeta default_dtype_;
};

}  // namespace torchtrt::compiler
