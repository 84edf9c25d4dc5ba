#include "compiler/module/plain_settings.h"

#include <ATen/autocast_mode.h>
#include <c10/core/DefaultDtype.h>

#include "base/logging.h"

namespace torchtrt::compiler {

PlainSettings::PlainSettings()
    : autocast_dtype_(at::autocast::get_autocast_dtype(at::kCPU)), default_dtype_(c10::get_default_dtype()) {
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  if (default_dtype_ != caffe2::TypeMeta::Make<float>()) {
    TORCHTRT_LOG(kWARNING, "the default dtype is " << default_dtype_.name()
                                                   << ": compiled modules compute as with float32 as the default");
    c10::set_default_dtype(caffe2::TypeMeta::Make<float>());
  }
}

PlainSettings::~PlainSettings() {
  at::autocast::set_autocast_dtype(at::kCPU, autocast_dtype_);
  if (default_dtype_ != caffe2::TypeMeta::Make<float>()) {
    c10::set_default_dtype(default_dtype_);
  }
}

}  // namespace torchtrt::compiler
