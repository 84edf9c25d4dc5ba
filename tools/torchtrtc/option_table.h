// The commands of the tool and their options as a table: what --help, the man page and the completion of shells are
// made of.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace torchtrtc {

struct OptionRow {
  std::vector<std::string> names;    // "-v", "--verbose"; of an argument "FILE"
  std::string value;                 // "FILE", "auto|always|never"; empty for flags
  std::string otherwise;             // the value without the option; may be empty
  std::string group, meaning;        // the group of --help, a sentence
  std::vector<std::string> choices;  // words that the value may be, if they are few
  bool takes_file = false;           // the value is a file or folder
};

struct CommandRow {
  std::string name;  // empty for a compile
  std::string call;  // "torchtrtc run FILE [SPECS...]"
  std::string meaning;
  std::vector<OptionRow> arguments, options;  // without those that --help does not show
};

// The compile first, then all commands in their order.
std::vector<CommandRow> commandTable(const CLI::App& app);

}  // namespace torchtrtc
