// The file of the timing cache.
#include "builder/timing_cache.h"
#include "fuzz/targets/target.h"

namespace torchtrt::fuzz {
namespace {

bool run(std::string_view input) {
  const auto cache = builder::parseTimings(input);
  if (cache && builder::parseTimings(print(*cache)) != cache) {
    fail("the printed cache reads back as another one:\n" + print(*cache));
  }
  return cache.has_value();
}

}  // namespace

const Target timings = {"timings", run};

}  // namespace torchtrt::fuzz
