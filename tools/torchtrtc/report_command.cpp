// torchtrtc report: the page of a compiled module, one HTML file.

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "call_options.h"
#include "command_line.h"
#include "commands.h"
#include "files.h"
#include "forward_inputs.h"
#include "torchtrt/error.h"
#include "torchtrt/page.h"
#include "waiting.h"

namespace torchtrtc {
namespace {

using torchtrt::CompileError;
using torchtrt::ErrorCode;

struct ReportOptions {
  std::string file, output, original;
  CallOptions call;

  bool hasInputs() const {
    return !call.specs.empty() || !call.arguments.empty();
  }
};

std::string outputOf(const ReportOptions& options) {
  return options.output.empty() ? std::filesystem::path(options.file).replace_extension(".html").string()
                                : options.output;
}

void checkInputs(const ReportOptions& options) {
  if (!options.original.empty() && !options.hasInputs()) {
    throw CompileError(ErrorCode::kInvalidOption, "--verify needs inputs for the calls that it compares, got none", {},
                       "add --profile \"(1,3,224,224)\", one for each argument, or --inputs FILE");
  }
}

void report(const ReportOptions& options) {
  const std::string output = outputOf(options);
  checkInputs(options);
  checkTarget(output);
  prepare(options.call);
  torch::jit::Module module = loadModule(options.file, kAnyModule, options.call.device);
  module.eval();
  std::optional<torchtrt::Profile> profile;
  std::optional<torchtrt::Verification> verification;
  if (options.hasInputs()) {
    const auto inputs = forwardInputs(module, options.call, "torchtrtc report " + options.file + " --profile");
    const Waiting waiting("timing and comparing");
    profile = torchtrt::ts::profile(module, inputs, options.call.calls);
    if (!options.original.empty()) {
      torch::jit::Module original = loadModule(options.original, kAnyModule, options.call.device);
      original.eval();
      verification = torchtrt::ts::verify(original, module, inputs, options.call.calls);
    }
  }
  torchtrt::PageOptions parts;
  parts.profile = profile ? &*profile : nullptr;
  parts.verification = verification ? &*verification : nullptr;
  const std::string html = torchtrt::page(module, parts);
  replaceFile(output, html);
  constexpr size_t kKilobyte = 1000;
  std::cout << output << ": " << (html.size() + kKilobyte - 1) / kKilobyte << " kB; open it in a browser\n";
  if (verification) {
    std::cout << verification->verdict() << "\n";
  }
}

}  // namespace

void addReportCommand(CLI::App& app) {
  auto* command = app.add_subcommand(
      "report", "Write a page about a compiled module: what runs where and why, its graph, memory and precision");
  auto options = std::make_shared<ReportOptions>();
  command->group("Commands");
  command->add_option("FILE", options->file, "Compiled module")->required();
  command->add_option("-o,--output", options->output, "HTML file to write (default: FILE with .html)")
      ->option_text("FILE");
  addRepeatable(*command, "--profile", options->call.specs, "SPEC",
                "Time a call with this input, for the page's time line and roofline; one for each argument");
  command->add_option("--verify", options->original, "Compare with this module, which was compiled, on the same inputs")
      ->option_text("FILE");
  addCallSettings(*command, options->call, /*least_calls=*/1, "--profile");
  command->callback([options] { report(*options); });
}

}  // namespace torchtrtc
