#include "rows.h"

#include <filesystem>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <sstream>
#include <system_error>

#include <unistd.h>

#include "base/color.h"
#include "command_line.h"
#include "commands.h"
#include "compiler/reports/summary.h"
#include "torchtrt/logging.h"

namespace torchtrtc {
namespace {

namespace logging = torchtrt::logging;

constexpr const char* kBold = "\033[1m";
constexpr const char* kRed = "\033[1;31m";
constexpr const char* kPlain = "\033[0m";

std::string styled(const std::string& text, const char* style) {
  return logging::takesColor(STDERR_FILENO) ? style + text + kPlain : text;
}

std::string seconds(double milliseconds) {
  std::ostringstream text;
  text.precision(milliseconds < 10000 ? 2 : 3);
  text << milliseconds / 1000 << " s";
  return text.str();
}

// "272.4 KB"
std::string sizeOf(const std::string& path) {
  constexpr double kStep = 1024;
  const char* const units[] = {" bytes", " KB", " MB", " GB"};
  std::error_code ignored;
  auto size = static_cast<double>(std::filesystem::file_size(path, ignored));
  size_t unit = 0;
  for (; size >= kStep && unit + 1 < std::size(units); ++unit) {
    size /= kStep;
  }
  std::ostringstream text;
  text << std::fixed << std::setprecision(unit == 0 ? 0 : 1) << size << units[unit];
  return text.str();
}

void setColor(const std::string& mode) {
  logging::setColorMode(mode == "always"  ? logging::ColorMode::kAlways
                        : mode == "never" ? logging::ColorMode::kNever
                                          : logging::ColorMode::kAuto);
}

}  // namespace

void tellRow(const std::string& title, const std::string& text) {
  constexpr size_t kColumn = 12;
  const std::string gap(title.size() < kColumn ? kColumn - title.size() : 1, ' ');
  std::cerr << (title.empty() ? "" : styled(title, kBold)) + gap + text + "\n";
}

void tellSummary(const torchtrt::Report& report) {
  const torchtrt::compiler::SummaryParts parts = torchtrt::compiler::summaryOf(report);
  tellRow("compiled", parts.module + " in " + seconds(report.milliseconds()));
  tellRow("engines", parts.engines);
  if (!parts.share_of_time.empty()) {
    tellRow("time", parts.share_of_time);
  }
  for (const std::string& reason : parts.in_pytorch) {
    tellRow(&reason == &parts.in_pytorch.front() ? "in PyTorch" : "", reason);
  }
  if (!parts.quantized.empty()) {
    tellRow(parts.precision, parts.quantized);
  }
}

void tellWritten(const std::string& path) {
  tellRow("wrote", path + ", " + sizeOf(path));
}

std::string errorPrefix() {
  return styled("torchtrtc:", kRed) + " ";
}

void addColorOption(CLI::App& app) {
  const auto add = [](CLI::App& command) {
    command
        .add_option_function<std::string>(kColor, setColor, "Colours: on terminals without NO_COLOR, always or never")
        ->option_text("auto|always|never")
        ->check(oneOf({"auto", "always", "never"}))
        ->trigger_on_parse();
  };
  add(app);
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    add(*command);
  }
}

}  // namespace torchtrtc
