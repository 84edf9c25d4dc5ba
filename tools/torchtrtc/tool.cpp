#include "tool.h"

#include <algorithm>

#include "command_line.h"
#include "commands.h"
#include "rows.h"
#include "torchtrt/version.h"

namespace torchtrtc {
namespace {

constexpr const char* kDescription =
    "Compiles a TorchScript module into one that runs compiled inference engines.\n\n"
    "  torchtrtc model.ts compiled.ts \"(1,3,224,224)\"\n"
    "  torchtrtc model.ts compiled.ts \"[(1,3,224,224);(4,3,224,224);(8,3,224,224)]@f32\"\n"
    "  torchtrtc inspect compiled.ts\n"
    "  torchtrtc run compiled.ts \"(1,3,224,224)\"\n"
    "  torchtrtc profile compiled.ts \"(1,3,224,224)\"\n"
    "  torchtrtc verify model.ts compiled.ts \"(1,3,224,224)\"\n"
    "  torchtrtc report compiled.ts -o report.html --profile \"(1,3,224,224)\"\n"
    "  torchtrtc check compiled.ts\n"
    "  torchtrtc bundle compiled.ts tested.ts \"(1,3,224,224)\"\n"
    "  torchtrtc replay records\n"
    "  torchtrtc env\n"
    "  torchtrtc triton compiled.ts repository\n";

}  // namespace

std::unique_ptr<CLI::App> makeTool() {
  auto app = std::make_unique<CLI::App>(kDescription, "torchtrtc");
  app->set_version_flag("--version", std::string("torchtrtc ") + TORCHTRT_VERSION_STRING);
  app->require_subcommand(0, 1);
  app->formatter(helpLayout());  // before commands are added, which inherit it
  addCompileCommand(*app);
  addInspectCommand(*app);
  addRunCommand(*app);
  addProfileCommand(*app);
  addVerifyCommand(*app);
  addReportCommand(*app);
  addCheckCommand(*app);
  addBundleCommand(*app);
  addReplayCommand(*app);
  addEnvCommand(*app);
  addTritonCommand(*app);
  addCompletionCommand(*app);
  addManCommand(*app);
  addColorOption(*app);  // after the commands, which have it, too
  return app;
}

std::vector<std::string> forParser(std::vector<std::string> arguments) {
  for (std::string& argument : arguments) {
    argument += argument.ends_with(']') ? " " : "";
  }
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

}  // namespace torchtrtc
