// A cuBLASLt for tests on machines without a GPU: it computes what the descriptors say on the emulated GPU's memory,
// and fails where the library would.
#pragma once

#include <cstdint>
#include <string>

#include "cuda/driver/cublaslt.h"

namespace torchtrt::cuda::testing {

struct FakeCublasLt {
  // Switches of the fake, from now on.
  bool proposes_none = false;
  bool proposes_no_epilogue = false;
  lt::Status status_of_multiply = lt::kSuccess;
  lt::Status status_of_create = lt::kSuccess;
  // The products asked of it, "bias float16 4x[5,2,3]", separated by "; ". "second": by the second of its two
  // proposals; "unsplit": by one of those that split no sums.
  std::string calls;
  // The least alignment of a call's proposal, in bytes.
  uint32_t alignment = 0;
};

FakeCublasLt& fakeCublasLt();
CublasLt tableOfFakeCublasLt();

}  // namespace torchtrt::cuda::testing
