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
  bool channels_last = true;       // let spatial layers run channels-last
  bool tf32_convolutions = false;  // let GPUs round the float32 factors of convolutions to TF32
  bool tf32_products = false;      // and those of matrix products
  bool batch_invariant = false;    // a sample has the same bits in every batch
  std::vector<std::pair<std::string, std::string>> recorded = {};  // options to note in the plan
};

// Throws CompileError(kBuildFailed, kInvalidNetwork). The network is not changed, nor optimized.
TORCHTRT_API plan::Plan build(const network::Network& network, const BuildOptions& options = {});
// The two phases of a network that nobody optimized yet: optimization::optimized(), then build().
TORCHTRT_API plan::Plan optimizeAndBuild(const network::Network& network, const BuildOptions& options = {});

}  // namespace torchtrt::builder
