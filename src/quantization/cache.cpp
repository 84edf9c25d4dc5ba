// The text of a cache file.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <optional>

#include "quantization/quantization.h"

namespace torchtrt::quantization {

namespace {

constexpr const char* kAdvice = "calibrate again without the cache, which writes it anew";
constexpr std::string_view kHeader = "torchtrt calibration 1";
constexpr struct {
  Method method;
  std::string_view name;
} kMethods[] = {{Method::kEntropy, "entropy"}, {Method::kMinMax, "minmax"}, {Method::kPercentile, "percentile"}};

// The shortest digits that read back as the same number.
std::string digits(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  return {buffer, end};
}

std::optional<double> numberFrom(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// Tensor names may hold anything; a line must not be broken by one.
std::string escaped(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 32 || code == 127 || c == '\\') {
      char buffer[5];
      std::snprintf(buffer, sizeof(buffer), "\\x%02x", code);
      text += buffer;
    } else {
      text += c;
    }
  }
  return text;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string name;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      name += text[i];
      continue;
    }
    unsigned code = 0;
    const std::string_view hex = text.substr(std::min(i + 2, text.size()), 2);
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
    if (text.substr(i, 2) != "\\x" || error != std::errc() || end != hex.data() + 2) {
      return std::nullopt;
    }
    name += static_cast<char>(code);
    i += 3;
  }
  return name;
}

// Messages quote the file, and a terminal or Python would stumble over bytes that are no text.
std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += static_cast<unsigned char>(c) < 128 ? c : '?';
  }
  return result;
}

bool isText(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 32 && c != '\t' && c != '\r' && c != '\n') || c == 127;
  });
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Cache parse() {
    if (!isText(rest_)) {
      throw CompileError(ErrorCode::kInvalidOption, "the calibration cache is no text", {}, kAdvice);
    }
    if (rest_.starts_with("TRT-")) {
      throw CompileError(ErrorCode::kInvalidOption,
                         "the calibration cache was written by NVIDIA's TensorRT, for its own layers", {}, kAdvice);
    }
    if (!nextLine() || line_ != kHeader) {
      fail("expected '" + std::string(kHeader) + "'");
    }
    Cache cache;
    bool has_method = false;
    Ranges* ranges = nullptr;
    while (nextLine()) {
      const std::string_view word = nextWord();
      if (word == "method" && !has_method) {
        setMethod(cache);
        has_method = true;
      } else if (word == "network" && has_method) {
        if (line_.empty() || line_.find_first_of(" \t\r") != std::string_view::npos) {
          fail("the network has no hash");
        }
        const auto [place, is_new] = cache.networks.try_emplace(std::string(line_));
        if (!is_new) {
          fail("the network was there before");
        }
        ranges = &place->second;
      } else if (word == "range" && ranges) {
        addRange(*ranges);
      } else if (!word.empty() || !line_.empty()) {
        fail(has_method ? ranges ? "expected 'network' or 'range'" : "expected 'network'" : "expected 'method'");
      }
    }
    if (!has_method) {
      fail("expected 'method', the text ends");
    }
    return cache;
  }

 private:
  void setMethod(Cache& cache) {
    const std::string_view name = nextWord();
    const auto* const entry =
        std::find_if(std::begin(kMethods), std::end(kMethods), [&](const auto& method) { return method.name == name; });
    if (entry == std::end(kMethods)) {
      fail("there is no method '" + std::string(name) + "'; there are entropy, minmax and percentile");
    }
    cache.method = entry->method;
    if (cache.method == Method::kPercentile) {
      const auto percentile = numberFrom(nextWord());
      if (!percentile) {
        fail("expected the percentile behind 'method percentile'");
      }
      cache.percentile = *percentile;
    }
    cache.symmetric = line_ == "symmetric";
    if (!line_.empty() && !cache.symmetric) {
      fail("expected 'symmetric' or nothing behind the method, got '" + std::string(line_) + "'");
    }
  }

  void addRange(Ranges& ranges) {
    const auto low = numberFrom(nextWord());
    const auto high = numberFrom(nextWord());
    const auto name = unescaped(line_);
    if (!low || !high || !name || name->empty()) {
      fail("expected 'range', two finite numbers and the name of a tensor");
    }
    if (*low > *high) {
      fail("the range ends, at " + digits(*high) + ", below its start, " + digits(*low));
    }
    if (!ranges.try_emplace(*name, Range{*low, *high}).second) {
      fail("the tensor '" + *name + "' has a range already");
    }
  }

  bool nextLine() {
    if (rest_.empty()) {
      return false;
    }
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    if (line_.ends_with('\r')) {
      line_.remove_suffix(1);
    }
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    return true;
  }

  // Up to the next space, which goes with it.
  std::string_view nextWord() {
    const size_t end = std::min(line_.find(' '), line_.size());
    const std::string_view word = line_.substr(0, end);
    line_.remove_prefix(std::min(end + 1, line_.size()));
    return word;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw CompileError(ErrorCode::kInvalidOption,
                       "line " + std::to_string(number_) + " of the calibration cache: " + printable(what), {},
                       kAdvice);
  }

  std::string_view rest_;
  std::string_view line_;
  int number_ = 0;
};

}  // namespace

std::string print(const Cache& cache) {
  std::string text(kHeader);
  for (const auto& entry : kMethods) {
    text += entry.method == cache.method ? "\nmethod " + std::string(entry.name) : "";
  }
  text += cache.method == Method::kPercentile ? " " + digits(cache.percentile) : "";
  text += cache.symmetric ? " symmetric\n" : "\n";
  for (const auto& [key, ranges] : cache.networks) {
    text += "network " + key + "\n";
    for (const auto& [name, range] : ranges) {
      text += "range " + digits(range.low) + " " + digits(range.high) + " " + escaped(name) + "\n";
    }
  }
  return text;
}

Cache parseCache(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace torchtrt::quantization
