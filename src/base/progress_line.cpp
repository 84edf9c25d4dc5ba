#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>

#include "base/status.h"
#include "torchtrt/progress.h"

namespace torchtrt {

namespace {

constexpr double kQuiet = 2;  // seconds that nobody minds
constexpr double kApart = 5;  // between lines that stay

// "torchtrt: building, engine 3 of 12, 14 s"
std::string textOf(const CompileProgress& progress) {
  std::string text = "torchtrt: " + progress.phase;
  if (progress.engine != 0) {
    text += ", engine " + std::to_string(progress.engine) + " of " + std::to_string(progress.engines);
  }
  return text + ", " + std::to_string(std::lround(progress.seconds)) + " s";
}

// Turns with every line that is shown, so that one sees work going on.
char spinner(double seconds) {
  constexpr char kFrames[] = {'|', '/', '-', '\\'};
  constexpr double kFramesPerSecond = 8;
  return kFrames[static_cast<size_t>(seconds * kFramesPerSecond) % std::size(kFrames)];
}

void showOnTerminal(const CompileProgress& progress) {
  if (progress.is_done) {
    logging::setStatus("");
  } else if (progress.seconds >= kQuiet) {
    logging::setStatus(spinner(progress.seconds) + (" " + textOf(progress)));
  }
}

}  // namespace

CompileWatcher progressLine() {
  if (isatty(STDERR_FILENO) == 1) {
    return showOnTerminal;
  }
  return [next = kQuiet](const CompileProgress& progress) mutable {
    if (!progress.is_done && progress.seconds >= next) {
      next = progress.seconds + kApart;
      const std::string line = textOf(progress) + "\n";
      std::fwrite(line.data(), 1, line.size(), stderr);
    }
  };
}

}  // namespace torchtrt
