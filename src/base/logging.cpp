// The process's one logger. A line is written with one call, so that lines of several threads do not mix.
#include "base/logging.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>

#include <unistd.h>

#include "base/color.h"
#include "base/status.h"

namespace torchtrt::logging {
namespace {

struct LevelStyle {
  const char* label;
  const char* color;  // ANSI escape
};

// Indexed by Level.
constexpr std::array<LevelStyle, 6> kStyles = {{
    {"INTERNAL_ERROR: ", "\033[1;31m"},
    {"ERROR: ", "\033[1;31m"},
    {"WARNING: ", "\033[1;33m"},
    {"INFO: ", "\033[1;32m"},
    {"DEBUG: ", "\033[1;34m"},
    {"GRAPH: ", "\033[1;35m"},
}};

struct Logger {
  std::mutex mutex;
  std::string prefix = "[Torch-TensorRT] - ";
  std::atomic<Level> level = Level::kWARNING;
  std::atomic<bool> colored = false;
  std::string status;  // as it stands on the terminal, the cursor at its beginning
};

// Never destroyed: objects with static storage may still log while the process ends.
Logger& logger() {
  static auto* instance = new Logger;
  return *instance;
}

// In files and pipes, colours would be noise.
bool showsColor() {
  return isColored() && takesColor(STDERR_FILENO);
}

// Takes the status off the terminal. Blanks do that on every terminal, and are no colour.
std::string withoutStatus() {
  const size_t length = logger().status.size();
  return length == 0 ? "" : "\r" + std::string(length, ' ') + "\r";
}

void put(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

std::string getPrefix() {
  const std::lock_guard lock(logger().mutex);
  return logger().prefix;
}

void setPrefix(std::string prefix) {
  const std::lock_guard lock(logger().mutex);
  logger().prefix = std::move(prefix);
}

Level getReportableLevel() {
  return logger().level.load(std::memory_order_relaxed);
}

void setReportableLevel(Level level) {
  logger().level.store(level, std::memory_order_relaxed);
}

bool isColored() {
  return logger().colored.load(std::memory_order_relaxed);
}

void setColored(bool colored) {
  logger().colored.store(colored, std::memory_order_relaxed);
}

void setStatus(const std::string& text) {
  const std::lock_guard lock(logger().mutex);
  if (text != logger().status) {
    put(withoutStatus() + (text.empty() ? "" : text + "\r"));
    logger().status = text;
  }
}

void log(Level level, const std::string& message) {
  if (level > getReportableLevel()) {
    return;
  }
  const LevelStyle& style = kStyles[static_cast<size_t>(level)];
  const bool has_color = showsColor();
  std::string line = has_color ? style.color : "";
  line += style.label + getPrefix() + message + (has_color ? "\033[0m\n" : "\n");
  const std::lock_guard lock(logger().mutex);
  put(withoutStatus() + line + (logger().status.empty() ? "" : logger().status + "\r"));
}

// The public names.

std::string get_logging_prefix() {
  return getPrefix();
}

void set_logging_prefix(std::string prefix) {
  setPrefix(std::move(prefix));
}

Level get_reportable_log_level() {
  return getReportableLevel();
}

void set_reportable_log_level(Level level) {
  setReportableLevel(level);
}

bool get_is_colored_output_on() {
  return isColored();
}

void set_is_colored_output_on(bool colored_output_on) {
  setColored(colored_output_on);
}

}  // namespace torchtrt::logging
