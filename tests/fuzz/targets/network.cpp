// Network text: read, verified, printed, read again and optimized.
#include "torchtrt/network.h"

#include "fuzz/targets/target.h"
#include "optimization/optimization.h"
#include "support/text_mutation.h"

namespace torchtrt::fuzz {
namespace {

test::TextFuzzer& fuzzer() {
  static auto* const made = new test::TextFuzzer([](torchtrt::network::Network& network) {
    optimization::optimize(network);
    verify(network);
  });
  return *made;
}

bool run(std::string_view input) {
  const uint64_t before = fuzzer().networks();
  if (const std::string problem = fuzzer().tryText(std::string(input)); !problem.empty()) {
    fail(problem);
  }
  return fuzzer().networks() > before;
}

std::string changed(std::string_view input, uint64_t seed) {
  return fuzzer().damaged(std::string(input), seed);
}

}  // namespace

const Target network = {"network", run, changed};

}  // namespace torchtrt::fuzz
