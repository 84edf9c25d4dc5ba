// The backend of NVIDIA's GPUs, which its library makes known when it is opened.
#include "kernels/backend.h"

#include "cuda/device/cuda_device.h"
#include "cuda/device/stand_in.h"
#include "cuda/driver/cublaslt.h"
#include "cuda/driver/cudnn.h"
#include "cuda/driver/nvrtc.h"
#include "cuda/families.h"
#include "cuda/limits/limits.h"
#include "torchtrt/version.h"

namespace torchtrt::cuda {

namespace {

std::string machineKey(const device::Device& device, int) {
  const device::Properties& properties = device.properties();
  return std::string("torchtrt ") + kVersion + "; " + properties.name + " " + properties.isa + ", " +
         std::to_string(properties.cores) + " multiprocessors";
}

std::vector<std::string> missing() {
  std::vector<std::string> lines;
  std::string reason;
  if (deviceCount(reason) == 0) {
    lines.push_back(reason + ": no engine runs on a GPU");
  } else if (!driver().hasGraphs()) {
    lines.emplace_back("the NVIDIA driver is older than for CUDA 12.3: calls are not replayed as CUDA graphs");
  }
  if (findNvrtc(reason) == nullptr) {
    lines.push_back("NVRTC is missing (" + reason +
                    "): engines load whose kernels were compiled here before, or came along");
  }
  if (findCublasLt(reason) == nullptr) {
    lines.push_back("cuBLASLt is missing (" + reason + "): matrix multiplications are slower");
  }
  if (findCudnn(reason) == nullptr) {
    lines.push_back("cuDNN is missing (" + reason + "): convolutions are slower");
  }
  return lines;
}

const kernels::Backend kCuda = {
    .name = "cuda",
    .families = families,
    .devices = deviceCount,
    .device = [](int index) -> const device::Device& { return deviceAt(index); },
    .machineKey = machineKey,
    .measureLimits = [](const device::Device& device,
                        int) { return measureLimits(dynamic_cast<const CudaDevice&>(device)); },
    .otherForm = [](const kernels::Problem&) { return std::unique_ptr<kernels::OtherForm>(); },
    .standIn = [](const std::string& architecture) -> std::unique_ptr<device::Device> {
      return std::make_unique<StandIn>(architecture);
    },
    .missing = missing,
};

const kernels::BackendRegistration kRegistered(kCuda);

}  // namespace

}  // namespace torchtrt::cuda
