#include "support/network_trial.h"

#include <memory>
#include <optional>
#include <vector>

#include "builder/builder.h"
#include "builder/run.h"
#include "support/double_reference.h"
#include "support/interpreter.h"
#include "support/plan_trial.h"
#include "torchtrt/error.h"

namespace torchtrt::testing {
std::string compareWithInterpreter(const network::Network& network, uint64_t seed) {
  std::shared_ptr<const engine::Engine> engine;
  try {
    engine = builder::loadPlan(builder::optimizeAndBuild(network));
  } catch (const CompileError&) {  // its sizes may not fit together for every value of its symbols
    return "";
  }
  for (const int64_t batch : {2, 1, 4}) {
    const std::vector<network::Weights> inputs = randomInputs(network, static_cast<uint32_t>(seed), {{"n", batch}});
    const std::optional<std::vector<network::Weights>> expected = interpretIfPossible(network, inputs);
    if (!expected) {
      continue;
    }
    const std::vector<network::Weights> got = builder::runEngine(*engine, inputs, /*threads=*/2, seed % 4 == 0);
    for (size_t i = 0; i < expected->size(); ++i) {
      const auto equal = agree(got.at(i), (*expected)[i]);
      if (!equal && !isRounding(network, inputs, i, got[i], (*expected)[i])) {
        return "output " + std::to_string(i) + " of batch " + std::to_string(batch) + ": " + equal.message();
      }
    }
    if (network.symbols().empty()) {
      break;
    }
  }
  return "";
}

std::string compareKernels(const network::Network& network, size_t most_bytes) {
  std::string bytes;
  try {
    bytes = plan::serialize(builder::build(network));
  } catch (const CompileError&) {  // valid networks may be too large for plans
    return "";
  }
  return tryPlan(bytes, most_bytes).problem;
}

}  // namespace torchtrt::testing
