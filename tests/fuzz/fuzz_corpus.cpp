// Writes plans and network text of the tests into FOLDER/plan, FOLDER/engine and FOLDER/network, the first inputs of
// the targets of these names:
//   fuzz_corpus FOLDER
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/plan_damage.h"
#include "support/plan_mutation.h"
#include "support/text_mutation.h"

namespace {

using Path = std::filesystem::path;

bool write(const Path& folder, const std::vector<std::string>& contents) {
  std::filesystem::create_directories(folder);
  for (size_t i = 0; i < contents.size(); ++i) {
    if (!(std::ofstream(folder / std::to_string(i), std::ios::binary) << contents[i])) {
      std::fprintf(stderr, "cannot write into %s\n", folder.c_str());
      return false;
    }
  }
  std::printf("%s: %zu files\n", folder.c_str(), contents.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz_corpus FOLDER\n");
    return 2;
  }
  namespace testing = torchtrt::testing;
  std::vector<std::string> plans = {testing::fuzzedPlan(), testing::fuzzedCountedPlan(), testing::fuzzedQuantizedPlan(),
                                    testing::fuzzedPluginPlan(), testing::fuzzedStatePlan()};
  const testing::PlanDamager damager;
  for (const torchtrt::plan::Plan& plan : damager.plans()) {
    plans.push_back(serialize(plan));
  }
  const torchtrt::test::TextFuzzer texts;
  const Path folder(argv[1]);
  const bool is_written =
      write(folder / "plan", plans) && write(folder / "engine", plans) && write(folder / "network", texts.texts());
  return is_written ? 0 : 1;
}
