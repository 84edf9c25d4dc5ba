// The arguments of torchtrtc, one a line: parsed with their errors and help. No command does its work. Each argument is
// read as the input specification and the dtype that it may be, too.
#include <algorithm>
#include <exception>
#include <iterator>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "fuzz/targets/target.h"
#include "torchtrt/error.h"
#include "torchtrtc/command_line.h"
#include "torchtrtc/input_spec.h"
#include "torchtrtc/option_table.h"
#include "torchtrtc/tool.h"

namespace torchtrt::fuzz {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kValues[] = {"",
                                   "-1",
                                   "0",
                                   "1e308",
                                   "nan",
                                   "-9223372036854775808",
                                   "18446744073709551616",
                                   "a.ts",
                                   "[a,b]",
                                   "[[",
                                   "%s%n",
                                   "-",
                                   "--",
                                   "---x",
                                   "=",
                                   "cuda:",
                                   "cuda:999",
                                   "sm_90",
                                   "f32",
                                   "bf16",
                                   "*=fp32",
                                   "(1,3,224,224)",
                                   "(8,)",
                                   "()",
                                   "[(1,3);(2,3);(4,3)]@f16%nhwc",
                                   "[(1);(2)]",
                                   "(-1,9223372036854775808)",
                                   "@",
                                   "%",
                                   "(1,2)@i8%chw ",
                                   "\xff\xfe"};

Words wordsOf(std::string_view input) {
  Words words;
  std::istringstream lines{std::string(input)};
  for (std::string line; std::getline(lines, line);) {
    words.push_back(line);
  }
  return words;
}

std::string textOf(const Words& words) {
  std::string text;
  for (const std::string& word : words) {
    text += word + "\n";
  }
  return text;
}

struct IsParsed {};

// Ends in front of the work of commands. Of a compile, whose file is not there, the checks in front of that stay.
std::unique_ptr<CLI::App> idleTool() {
  auto tool = torchtrtc::makeTool();
  for (CLI::App* command : tool->get_subcommands([](const CLI::App*) { return true; })) {
    command->parse_complete_callback([] { throw IsParsed(); });
  }
  return tool;
}

void requireText(const std::string& text, const char* of) {
  if (text.find_first_not_of(" \n") == std::string::npos) {
    fail(std::string(of) + " is empty");
  }
}

bool parse(const Words& words) {
  const auto tool = idleTool();
  try {
    tool->parse(torchtrtc::forParser(words));
    fail("a compile of no file");
  } catch (const IsParsed&) {
    return true;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      requireText(torchtrtc::commandLineError(*tool, error).message(), "the error");
      return false;
    }
    std::ostringstream help;
    tool->exit(error, help, help);
    requireText(help.str(), "the help");
    return true;
  } catch (const std::logic_error&) {
    throw;
  } catch (const std::exception& error) {  // of options that contradict each other, and of files
    requireText(error.what(), "the error");
    return false;
  }
}

void readAsValue(const std::string& word) {
  try {
    torchtrtc::parseInputSpec(word);
  } catch (const CompileError& error) {
    requireText(error.message(), "the error");
  }
  try {
    torchtrtc::parseDataType(word, "--precision");
  } catch (const CompileError& error) {
    requireText(error.message(), "the error");
  }
}

bool run(std::string_view input) {
  const Words words = wordsOf(input);
  std::for_each(words.begin(), words.end(), readAsValue);
  return parse(words);
}

const std::vector<torchtrtc::CommandRow>& commands() {
  static const auto* const table = new auto(torchtrtc::commandTable(*torchtrtc::makeTool()));
  return *table;
}

// Returns another call of the same command or of another one.
std::string changed(std::string_view input, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&random](size_t bound) { return bound == 0 ? 0 : static_cast<size_t>(random() % bound); };
  const auto option = [&]() -> std::string {
    const torchtrtc::CommandRow& command = commands()[below(commands().size())];
    if (below(4) == 0 || command.options.empty()) {
      return command.name;
    }
    const Words& names = command.options[below(command.options.size())].names;
    return names[below(names.size())];
  };
  const auto value = [&] { return std::string(kValues[below(std::size(kValues))]); };
  Words words = wordsOf(input);
  const size_t times = 1 + below(4);
  for (size_t i = 0; i < times; ++i) {
    const auto at = words.begin() + static_cast<ptrdiff_t>(below(words.size() + 1));
    switch (below(6)) {
      case 0:
        words.insert(at, option());
        break;
      case 1:
        words.insert(at, option() + "=" + value());
        break;
      case 2:
        words.insert(at, value());
        break;
      case 3:
        if (at != words.end()) {
          words.erase(at);
        }
        break;
      case 4:
        if (at != words.end()) {
          std::swap(*at, words[below(words.size())]);
        }
        break;
      default:
        if (at != words.end() && !at->empty()) {
          (*at)[below(at->size())] = static_cast<char>(random());
        }
    }
  }
  return textOf(words);
}

}  // namespace

const Target arguments = {"arguments", run, changed};

}  // namespace torchtrt::fuzz
