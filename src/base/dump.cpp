#include "base/dump.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "torchtrt/error.h"

namespace torchtrt::dump {

namespace {

struct Switch {
  std::string folder;
  std::string passes;  // a regular expression; empty: none
};

// Read at every question, as tests and programs change the variable.
Switch fromEnvironment() {
  for (const char* old : {"TORCHTRT_DUMP_NETWORK", "TORCHTRT_DUMP_AFTER"}) {
    const char* value = std::getenv(old);
    if (value != nullptr && *value != '\0') {
      throw CompileError(ErrorCode::kInvalidOption,
                         std::string("the environment variable ") + old + " is set, which no longer exists", {},
                         "set TORCHTRT_DUMP=DIR, or TORCHTRT_DUMP=DIR:REGEX for passes, too");
    }
  }
  const char* value = std::getenv("TORCHTRT_DUMP");
  const std::string text = value != nullptr ? value : "";
  const size_t colon = text.find(':');
  return {text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon + 1)};
}

std::string asFileName(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c) && c != '_' && c != '-' && c != '.'; },
      '_');
  return name;
}

}  // namespace

bool isOn() {
  return !fromEnvironment().folder.empty();
}

bool wantsPass(const std::string& level, const std::string& pass) {
  const Switch asked = fromEnvironment();
  if (asked.folder.empty() || asked.passes.empty()) {
    return false;
  }
  try {
    const std::regex passes(asked.passes);
    return std::regex_search(pass, passes) || std::regex_search(level + "." + pass, passes);
  } catch (const std::regex_error&) {
    throw CompileError(ErrorCode::kInvalidOption, "'" + asked.passes + "' in TORCHTRT_DUMP is no regular expression",
                       {}, "give names of passes, as in TORCHTRT_DUMP=DIR:fuse_");
  }
}

void write(const std::string& level, const std::string& subject, const std::string& what, const std::string& text) {
  const std::string folder = fromEnvironment().folder;
  if (folder.empty()) {
    return;
  }
  static std::atomic<int> count{0};
  char number[16];
  std::snprintf(number, sizeof(number), "%03d", count++);
  std::string file_name = number;
  for (const std::string& part : {level, asFileName(subject), asFileName(what), std::string("txt")}) {
    file_name += '.';
    file_name += part;
  }
  const std::filesystem::path path = std::filesystem::path(folder) / file_name;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::ofstream file(path);
  file << text;
  if (!file.flush()) {
    throw CompileError(ErrorCode::kOutput, "the text cannot be written to '" + path.string() + "'", {},
                       "give a folder that can be written to");
  }
}

}  // namespace torchtrt::dump
