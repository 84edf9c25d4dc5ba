// The backend of NVIDIA's GPUs, which its library makes known when it is opened.
#include "kernels/backend.h"

#include "cuda/device/cuda_device.h"
#include "cuda/families.h"
#include "torchtrt/version.h"

namespace torchtrt::cuda {

namespace {

std::string machineKey(const device::Device& device, int) {
  const device::Properties& properties = device.properties();
  return std::string("torchtrt ") + kVersion + "; " + properties.name + " " + properties.isa + ", " +
         std::to_string(properties.cores) + " multiprocessors";
}

const kernels::Backend kCuda = {
    .name = "cuda",
    .families = families,
    .devices = deviceCount,
    .device = [](int index) -> const device::Device& { return deviceAt(index); },
    .machineKey = machineKey,
    .measureLimits = [](const device::Device&, int) { return kernels::Limits{}; },
    .otherForm = [](const kernels::Problem&) { return std::unique_ptr<kernels::OtherForm>(); },
};

const kernels::BackendRegistration kRegistered(kCuda);

}  // namespace

}  // namespace torchtrt::cuda
