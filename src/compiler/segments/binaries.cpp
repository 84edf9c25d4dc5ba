#include "compiler/segments/binaries.h"

#include "base/logging.h"
#include "compiler/segments/segment_engines.h"
#include "engine/schedule/precompile.h"
#include "torchtrt/error.h"

namespace torchtrt::compiler {

void addBinaries(plan::Plan& plan, const DeviceTarget& target, PhaseClock& clock) {
  if (target.architecture.empty()) {
    return;
  }
  try {
    plan.binaries = clock.run(Phase::kBuilding, [&] { return engine::precompiled(plan, target.architecture); });
  } catch (const EngineError& error) {
    TORCHTRT_LOG(kINFO, "engine \"" << plan.name << "\" carries no machine code for " << target.architecture
                                    << ", and is compiled for its GPU where it is loaded: " << error.message());
  } catch (const InternalError& error) {
    if (isStrict()) {
      throw;
    }
    TORCHTRT_LOG(kWARNING, "engine \"" << plan.name << "\" carries no machine code for " << target.architecture << ": "
                                       << error.message());
  }
}

}  // namespace torchtrt::compiler
