#include "base/pass_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "torchtrt/error.h"

namespace torchtrt {
namespace {

using testing::ElementsAre;

// A pass over a text.
struct TextPass {
  std::string text = "a";
  std::vector<std::string> seen;

  PassRun run(const std::string& name = "append") {
    PassRun run{"network", "net", name, [this] { return text; }};
    run.dump = [this](const std::string& dumped) { seen.push_back(dumped); };
    return run;
  }
  std::function<bool()> appending(bool claim = true) {
    return [this, claim] {
      text += "b";
      return claim;
    };
  }
};

bool keep() {
  return false;
}

TEST(PassRun, GivesWhatThePassSays) {
  TextPass pass;
  EXPECT_TRUE(runPass(pass.run(), pass.appending()));
  EXPECT_FALSE(runPass(pass.run(), keep));
}

TEST(PassRun, VerifiesWhatHasChanged) {
  TextPass pass;
  PassRun run = pass.run();
  run.verify = [&] { pass.seen.push_back("verified " + pass.text); };
  runPass(run, keep);
  runPass(run, pass.appending());
  EXPECT_THAT(pass.seen, ElementsAre("verified ab"));
}

TEST(PassRun, ALieAboutAChangeIsFound) {
  TextPass pass;
  PassRun run = pass.run();
  run.check_changed = true;
  EXPECT_TRUE(runPass(run, pass.appending()));
  EXPECT_THROW(runPass(run, pass.appending(false)), InternalError);
  EXPECT_THROW(runPass(run, [] { return true; }), InternalError);
}

TEST(PassRun, TextsGoWhereTheExpressionNamesThePass) {
  TextPass pass;
  PassRun run = pass.run();
  run.dump_after = "^other$";
  runPass(run, pass.appending());
  run.dump_after = "^app";
  runPass(run, pass.appending());
  EXPECT_THAT(pass.seen, ElementsAre("abb"));
  run.dump_after = "[";
  EXPECT_THROW(runPass(run, keep), CompileError);
}

TEST(PassRun, AFileIsWrittenOfEachChangeThatIsAskedFor) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("torchtrt_pass_run_" + std::to_string(getpid()));
  setenv("TORCHTRT_DUMP", (folder.string() + ":network.append").c_str(), 1);
  TextPass pass;
  runPass(pass.run(), keep);
  EXPECT_FALSE(std::filesystem::exists(folder));
  runPass(pass.run("prepend"), pass.appending());
  EXPECT_FALSE(std::filesystem::exists(folder));
  runPass(pass.run(), pass.appending());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  unsetenv("TORCHTRT_DUMP");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace torchtrt
