// Network -> Plan: optimization is done; here memory orders are chosen, shape arithmetic is compiled, weights are
// collected and kernels are asked whether they accept.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "torchtrt/export.h"
#include "torchtrt/network.h"

namespace torchtrt::builder {

struct BuildOptions {
  bool optimize =
      true;  // run optimization's default pipeline first, on a copy; compile() does so in a phase of its own
  bool channels_last = true;                                       // let spatial layers run channels-last
  std::vector<std::pair<std::string, std::string>> recorded = {};  // options to note in the plan
};

// Throws CompileError(kBuildFailed, kInvalidNetwork). The network is not changed.
TORCHTRT_API plan::Plan build(const network::Network& network, const BuildOptions& options = {});

}  // namespace torchtrt::builder
