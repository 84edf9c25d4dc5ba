// torchtrtc: compiles, inspects, runs, profiles, verifies, reports on and checks TorchScript modules from the command
// line, replays recorded calls, and makes modules ready for Triton.
// Exit status: 0 done, 1 the module or file was refused, or disagrees (the reason is on stderr), 2 the command line is
// wrong: its syntax, an option's value or an input specification; 130 and 143 it was interrupted by SIGINT and SIGTERM.

#include <csignal>
#include <exception>
#include <iostream>
#include <memory>

#include "command_line.h"
#include "messages.h"
#include "rows.h"
#include "signals.h"
#include "tool.h"
#include "torchtrt/error.h"

int main(int argc, char** argv) {
  torchtrtc::endOnSignals();
  std::signal(SIGPIPE, SIG_IGN);  // files are written, too, if the reader of the report is gone (| head)
  const std::unique_ptr<CLI::App> app = torchtrtc::makeTool();
  try {
    app->parse(torchtrtc::forParser({argv + 1, argv + argc}));
    return 0;
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) {  // --help and --version
      return app->exit(e);
    }
    std::cerr << torchtrtc::errorPrefix() << torchtrtc::commandLineError(*app, e).what() << std::endl;
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
