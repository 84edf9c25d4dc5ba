// torchtrtc: compiles, inspects, runs and checks TorchScript modules from the command line.
// Exit status: 0 done, 1 the module or file was refused (the reason is on stderr), 2 the command line is wrong.

#include <exception>
#include <iostream>

#include "commands.h"
#include "torchtrt/error.h"
#include "torchtrt/version.h"

namespace {

constexpr const char* kDescription =
    "Compiles a TorchScript module into one that runs compiled inference engines.\n\n"
    "  torchtrtc model.ts compiled.ts \"(1,3,224,224)\"\n"
    "  torchtrtc model.ts compiled.ts \"[(1,3,224,224);(4,3,224,224);(8,3,224,224)]@f32\"\n"
    "  torchtrtc inspect compiled.ts\n"
    "  torchtrtc run compiled.ts \"(1,3,224,224)\"\n"
    "  torchtrtc check compiled.ts\n";

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(kDescription, "torchtrtc");
  app.set_version_flag("--version", std::string("torchtrtc ") + TORCHTRT_VERSION_STRING);
  app.require_subcommand(0, 1);
  torchtrtc::addCompileCommand(app);
  torchtrtc::addInspectCommand(app);
  torchtrtc::addRunCommand(app);
  torchtrtc::addCheckCommand(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const std::exception& e) {
    std::cerr << "torchtrtc: " << e.what() << std::endl;
    return 1;
  }
}
