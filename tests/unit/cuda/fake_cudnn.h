// A cuDNN for tests on machines without a GPU: it computes graphs of convolutions on the emulated GPU's memory, and
// refuses what the library would. Some of its engines are ones that must not be chosen.
#pragma once

#include <string>

#include "cuda/driver/cudnn.h"

namespace torchtrt::cuda::testing {

struct FakeCudnn {
  // Switches of the fake, from now on.
  bool has_no_engines = false;
  bool fuses_nothing = false;   // a graph is a convolution alone
  bool widens_nothing = false;  // results have the dtype of operands
  bool has_no_channels_last = false;
  bool allows_tf32 = false;  // float32 on tensor cores is no fault
  dnn::Status status_of_execute = dnn::kSuccess;
  dnn::Status status_of_create = dnn::kSuccess;
  // The plans that ran, "channels last float16 forward add relu", separated by "; ". Those that round to
  // TF32 begin with "tf32".
  std::string calls;
  int plans = 0;  // that were made
};

FakeCudnn& fakeCudnn();
Cudnn tableOfFakeCudnn();

}  // namespace torchtrt::cuda::testing
