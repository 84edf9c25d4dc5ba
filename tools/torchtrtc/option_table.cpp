#include "option_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "command_line.h"
#include "compiler/phases.h"

namespace torchtrtc {
namespace {

std::vector<std::string> splitAt(const std::string& text, char mark) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, mark);) {
    parts.push_back(part);
  }
  return parts;
}

std::vector<std::string> phaseNames() {
  std::vector<std::string> names;
  for (const torchtrt::compiler::PhaseInfo& phase : torchtrt::compiler::kPhases) {
    names.emplace_back(phase.name);
  }
  return names;
}

// The words of a value that is shown as "auto|always|never", or by a name that stands for few words.
std::vector<std::string> choicesOf(const std::string& value) {
  if (value.find('|') != std::string::npos) {
    return splitAt(value, '|');
  }
  static const std::map<std::string, std::vector<std::string>> kNamed = {
      {"DEVICE", {"cpu", "cuda"}}, {"DTYPE", {"f32", "f16", "bf16", "i8"}}, {"PHASE", phaseNames()}};
  const auto found = kNamed.find(value);
  return found == kNamed.end() ? std::vector<std::string>() : found->second;
}

bool isFile(const std::string& value) {
  constexpr std::array kFiles = {"FILE", "FOLDER", "INPUT", "OUTPUT", "COMPILED", "REPOSITORY"};
  return std::any_of(kFiles.begin(), kFiles.end(), [&](const char* name) { return value.find(name) == 0; });
}

OptionRow rowOf(const CLI::Option& option) {
  OptionRow row;
  row.group = option.get_group();
  row.meaning = option.get_description();
  if (option.get_positional()) {
    row.names = {option.get_name(true)};
    row.value = row.names.front();
  } else {
    for (const std::string& name : option.get_snames()) {
      row.names.push_back("-" + name);
    }
    for (const std::string& name : option.get_lnames()) {
      row.names.push_back("--" + name);
    }
    row.value = valueOf(option);
    row.otherwise = option.get_default_str();
  }
  row.choices = choicesOf(option.get_positional() ? option.get_option_text() : row.value);
  row.takes_file = isFile(row.value);
  return row;
}

CommandRow commandRow(const CLI::App& command) {
  CommandRow row;
  row.name = command.get_parent() == nullptr ? "" : command.get_name();
  row.call = callOf(command);
  row.meaning = command.get_description();
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_group().empty()) {
      (option->get_positional() ? row.arguments : row.options).push_back(rowOf(*option));
    }
  }
  return row;
}

}  // namespace

std::vector<CommandRow> commandTable(const CLI::App& app) {
  std::vector<CommandRow> table = {commandRow(app)};
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    table.push_back(commandRow(*command));
  }
  return table;
}

}  // namespace torchtrtc
