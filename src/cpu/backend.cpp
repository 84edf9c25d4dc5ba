#include "cpu/backend.h"

#include "cpu/machine.h"
#include "cpu/simd/isa.h"
#include "cpu/storage/in_float32.h"

namespace torchtrt::kernels {

namespace {

// Caps the instruction sets before the first kernel is asked for.
const std::vector<Family>& cappedFamilies() {
  isaCap();
  return families();
}

std::unique_ptr<OtherForm> inFloat32(const Problem& problem) {
  return InFloat32::applies(problem) ? std::make_unique<InFloat32>(problem) : nullptr;
}

const Backend kCpu = {
    .name = "cpu",
    .families = cappedFamilies,
    .devices = [](std::string&) { return 1; },
    .device = [](int) -> const device::Device& { return device::cpu(); },
    .machineKey = [](const device::Device&, int threads) { return machineKey(threads); },
    .measureLimits = [](const device::Device&, int threads) { return measureLimits(threads); },
    .otherForm = inFloat32,
};

const BackendRegistration kRegistered(kCpu);

}  // namespace

const Backend& cpuBackend() {
  return kCpu;
}

}  // namespace torchtrt::kernels
