// torchtrtc: compiles, inspects, runs, profiles, verifies, reports on and checks TorchScript modules from the command
// line, replays recorded calls, and makes modules ready for Triton.
// Exit status: 0 done, 1 the module or file was refused, or disagrees (the reason is on stderr), 2 the command line is
// wrong: its syntax, an option's value or an input specification; 130 and 143 it was interrupted by SIGINT and SIGTERM.

#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "command_line.h"
#include "commands.h"
#include "messages.h"
#include "rows.h"
#include "signals.h"
#include "torchtrt/error.h"
#include "torchtrt/version.h"

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

// Returns the arguments in the order that CLI11 wants, last first. It takes "[a,b]" apart as a list; a space behind
// keeps an input specification whole.
std::vector<std::string> argumentsOf(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  for (std::string& argument : arguments) {
    argument += argument.ends_with(']') ? " " : "";
  }
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  torchtrtc::endOnSignals();
  std::signal(SIGPIPE, SIG_IGN);  // files are written, too, if the reader of the report is gone (| head)
  std::vector<std::string> arguments = argumentsOf(argc, argv);
  CLI::App app(kDescription, "torchtrtc");
  app.set_version_flag("--version", std::string("torchtrtc ") + TORCHTRT_VERSION_STRING);
  app.require_subcommand(0, 1);
  app.formatter(torchtrtc::helpLayout());  // before commands are added, which inherit it
  torchtrtc::addCompileCommand(app);
  torchtrtc::addInspectCommand(app);
  torchtrtc::addRunCommand(app);
  torchtrtc::addProfileCommand(app);
  torchtrtc::addVerifyCommand(app);
  torchtrtc::addReportCommand(app);
  torchtrtc::addCheckCommand(app);
  torchtrtc::addBundleCommand(app);
  torchtrtc::addReplayCommand(app);
  torchtrtc::addEnvCommand(app);
  torchtrtc::addTritonCommand(app);
  torchtrtc::addCompletionCommand(app);
  torchtrtc::addManCommand(app);
  torchtrtc::addColorOption(app);  // after the commands, which have it, too
  try {
    app.parse(std::move(arguments));
    return 0;
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) {  // --help and --version
      return app.exit(e);
    }
    std::cerr << torchtrtc::errorPrefix() << torchtrtc::commandLineError(app, e).what() << std::endl;
    return 2;
  } catch (const torchtrt::CompileError& e) {
    std::cerr << torchtrtc::errorPrefix() << e.what() << std::endl;
    using torchtrt::ErrorCode;
    return e.code() == ErrorCode::kInvalidOption || e.code() == ErrorCode::kInvalidInputSpec ? 2 : 1;
  } catch (const std::exception& e) {
    std::cerr << torchtrtc::errorPrefix() << torchtrtc::reasonOf(e.what()) << std::endl;
    return 1;
  }
}
