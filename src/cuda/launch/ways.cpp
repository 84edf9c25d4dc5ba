#include "cuda/launch/ways.h"

#include "base/logging.h"

namespace torchtrt::cuda {

std::unique_ptr<Launches> firstOf(const CudaDevice& device, const std::vector<Way>& ways, const char* if_none) {
  for (const Way& way : ways) {
    std::unique_ptr<Launches> launches = way();
    if (launches != nullptr && device.isHere()) {
      return launches;
    }
  }
  if (device.isHere()) {
    TORCHTRT_LOG(kDEBUG, if_none);
  }
  return nullptr;
}

}  // namespace torchtrt::cuda
