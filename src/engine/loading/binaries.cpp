#include "engine/loading/binaries.h"

#include <utility>
#include <vector>

#include "base/logging.h"
#include "device/machine_code.h"
#include "engine/loading/switches.h"

namespace torchtrt::engine {

std::shared_ptr<const void> offerBinaries(plan::Plan& plan, const device::Device& device) {
  const auto* const finder = dynamic_cast<const device::CodeFinder*>(&device);
  const bool is_wanted = finder != nullptr && switchesOfEnvironment().takes_binaries;
  std::vector<device::MachineCode> codes;
  size_t foreign = 0, damaged = 0;
  for (plan::Binary& binary : plan.binaries) {
    if (is_wanted && binary.code != nullptr) {
      if (binary.architecture != device.properties().isa) {
        ++foreign;
      } else if (plan::contentHash(binary) != binary.hash) {
        ++damaged;
      } else {
        codes.push_back({binary.key, binary.code});
      }
    }
    binary.code = nullptr;
  }
  if (damaged != 0) {
    TORCHTRT_LOG(kWARNING, "plan \"" << plan.name << "\": " << damaged << " of its " << plan.binaries.size()
                                     << " binaries are damaged and not used: save or copy the file again");
  }
  if (foreign != 0 && codes.empty()) {
    TORCHTRT_LOG(kINFO, "plan \"" << plan.name << "\": its binaries are not for this GPU's architecture, "
                                  << device.properties().isa << ", and not used");
  }
  return codes.empty() ? nullptr : finder->offer(std::move(codes));
}

}  // namespace torchtrt::engine
