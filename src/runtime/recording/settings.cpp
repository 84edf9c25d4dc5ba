#include "runtime/recording/settings.h"

#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "torchtrt/error.h"

namespace torchtrt::runtime::recording {

namespace {

constexpr uint64_t kMegabyte = uint64_t{1} << 20;

std::string_view valueOf(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

uint64_t positive(std::string_view text, const char* name, uint64_t most = std::numeric_limits<uint64_t>::max()) {
  uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size() || number == 0 || number > most) {
    throw EngineError(ErrorCode::kInvalidOption,
                      std::string(name) + ": expected a whole number, 1 or more, got \"" + std::string(text) + "\"");
  }
  return number;
}

void setCalls(Settings& settings, std::string_view text) {
  constexpr const char* kName = "TORCHTRT_RECORD_CALLS";
  const size_t colon = text.find(':');
  const std::string_view word = text.substr(0, colon);
  if (word == "first" || word == "every") {
    settings.calls = word == "first" ? Settings::Calls::kFirst : Settings::Calls::kEvery;
    settings.number = positive(colon == std::string_view::npos ? "" : text.substr(colon + 1), kName);
  } else if (text == "failing" || text == "wrong") {
    settings.calls = text == "failing" ? Settings::Calls::kFailing : Settings::Calls::kWrong;
  } else {
    throw EngineError(
        ErrorCode::kInvalidOption,
        std::string(kName) + ": expected first:N, every:N, failing or wrong, got \"" + std::string(text) + "\"");
  }
}

}  // namespace

std::optional<Settings> settingsFromEnvironment(const std::string& folder) {
  Settings settings;
  settings.folder = folder.empty() ? std::string(valueOf("TORCHTRT_RECORD")) : folder;
  if (settings.folder.empty()) {
    return std::nullopt;
  }
  if (const std::string_view calls = valueOf("TORCHTRT_RECORD_CALLS"); !calls.empty()) {
    setCalls(settings, calls);
  }
  if (const std::string_view most = valueOf("TORCHTRT_RECORD_MOST"); !most.empty()) {
    settings.most_records = positive(most, "TORCHTRT_RECORD_MOST");
  }
  if (const std::string_view megabytes = valueOf("TORCHTRT_RECORD_MEGABYTES"); !megabytes.empty()) {
    constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max() / kMegabyte;
    settings.most_bytes = positive(megabytes, "TORCHTRT_RECORD_MEGABYTES", kMost) * kMegabyte;
  }
  const std::string_view redacts = valueOf("TORCHTRT_RECORD_REDACT");
  settings.is_redacted = !redacts.empty() && redacts != "0";
  return settings;
}

}  // namespace torchtrt::runtime::recording
