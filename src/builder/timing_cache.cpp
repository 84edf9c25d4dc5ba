#include "builder/timing_cache.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>

#include "base/logging.h"
#include "base/safe_file.h"

namespace torchtrt::builder {

namespace {

constexpr std::string_view kName = "torchtrt timings ";  // what every version begins with
constexpr std::string_view kVersion = "1";
constexpr size_t kMostBytes = size_t{64} << 20;  // of a file; a network has some 10 KB

// The shortest digits that read back as the same number.
std::string digits(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  return {buffer, end};
}

// Takes the text up to the next `end`, which goes with it.
std::string_view take(std::string_view& rest, char end) {
  const size_t at = std::min(rest.find(end), rest.size());
  const std::string_view taken = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return taken;
}

std::optional<double> takeMicroseconds(std::string_view& rest) {
  const std::string_view text = take(rest, ' ');
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole && std::isfinite(value) && value >= 0 ? std::optional(value) : std::nullopt;
}

std::optional<std::string> takeImplementation(std::string_view& rest) {
  constexpr size_t kLongest = 64;
  const std::string_view name = take(rest, ' ');
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  const bool is_name = !name.empty() && name.size() <= kLongest && std::all_of(name.begin(), name.end(), is_letter);
  return is_name ? std::optional(std::string(name)) : std::nullopt;
}

std::optional<Timing> takeTiming(std::string_view& rest) {
  const auto implementation = takeImplementation(rest);
  const auto microseconds = takeMicroseconds(rest);
  const auto by_rule = takeImplementation(rest);
  const auto by_rule_microseconds = takeMicroseconds(rest);
  if (!implementation || !microseconds || !by_rule || !by_rule_microseconds) {
    return std::nullopt;
  }
  return Timing{*implementation, *by_rule, *microseconds, *by_rule_microseconds};
}

struct Content {
  bool exists = false;
  std::string text;
};

Content contentOf(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return {};
  }
  Content content{true, {}};
  std::array<char, 4096> piece{};
  while (content.text.size() <= kMostBytes && (in.read(piece.data(), piece.size()) || in.gcount() > 0)) {
    content.text.append(piece.data(), static_cast<size_t>(in.gcount()));
  }
  return content;
}

bool isTimings(const std::string& text) {
  return text.empty() || text.starts_with(kName);
}

}  // namespace

std::string print(const TimingCache& cache) {
  std::string text = std::string(kName) + std::string(kVersion) + "\n";
  for (const auto& [machine, timings] : cache) {
    text += "machine " + machine + "\n";
    for (const auto& [problem, timing] : timings) {
      text += "time " + timing.implementation + " " + digits(timing.microseconds) + " " + timing.by_rule + " " +
              digits(timing.by_rule_microseconds) + " " + problem + "\n";
    }
  }
  return text;
}

std::optional<TimingCache> parseTimings(std::string_view text) {
  if (!text.ends_with('\n') || take(text, '\n') != std::string(kName) + std::string(kVersion)) {
    return std::nullopt;
  }
  TimingCache cache;
  Timings* timings = nullptr;
  while (!text.empty()) {
    std::string_view line = take(text, '\n');
    const std::string_view word = take(line, ' ');
    if (word == "machine" && !line.empty()) {
      timings = &cache[std::string(line)];
      continue;
    }
    const std::optional<Timing> timing = word == "time" ? takeTiming(line) : std::nullopt;
    if (!timing || timings == nullptr || line.empty()) {
      return std::nullopt;
    }
    timings->insert_or_assign(std::string(line), *timing);
  }
  return cache;
}

TimingCache readTimings(const std::string& file) {
  const Content content = contentOf(file);
  if (!content.exists || content.text.empty()) {
    return {};
  }
  if (std::optional<TimingCache> cache = parseTimings(content.text)) {
    return std::move(*cache);
  }
  TORCHTRT_LOG(kWARNING, "the timing cache "
                             << file
                             << (isTimings(content.text) ? " is damaged or of another version, and is not used"
                                                         : " is no timing cache, and is neither used nor written"));
  return {};
}

void addTimings(const std::string& file, const TimingCache& found) {
  const Content content = contentOf(file);
  if (!isTimings(content.text)) {
    return;
  }
  TimingCache cache = parseTimings(content.text).value_or(TimingCache());
  for (const auto& [machine, timings] : found) {
    for (const auto& [problem, timing] : timings) {
      cache[machine].insert_or_assign(problem, timing);
    }
  }
  if (const std::error_code problem = replaceFile(file, print(cache))) {
    TORCHTRT_LOG(kWARNING, "the timing cache " << file << " cannot be written: " << problem.message());
  }
}

}  // namespace torchtrt::builder
