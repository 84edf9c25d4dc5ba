// torchtrtc man: the tool's manual page, made of the same table as --help.

#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "commands.h"
#include "option_table.h"
#include "torchtrt/version.h"

namespace torchtrtc {
namespace {

// Text as roff takes it: no character of a request, hyphens that can be searched for and copied.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    result += c == '\\' ? "\\e" : c == '-' ? "\\-" : c == '\'' ? "\\(aq" : std::string(1, c);
  }
  return result.starts_with('.') ? "\\&" + result : result;
}

std::string tagOf(const OptionRow& option) {
  std::string tag;
  for (const std::string& name : option.names) {
    tag += (tag.empty() ? "" : ", ") + ("\\fB" + escaped(name) + "\\fR");
  }
  if (!option.value.empty() && option.names.front().starts_with('-')) {
    tag += " \\fI" + escaped(option.value) + "\\fR";
  }
  return tag;
}

void printOptions(std::ostream& out, const std::vector<OptionRow>& options) {
  for (const OptionRow& option : options) {
    out << ".TP\n" << tagOf(option) << "\n" << escaped(option.meaning);
    out << (option.otherwise.empty() ? "" : " (default: " + escaped(option.otherwise) + ")") << ".\n";
  }
}

// Options in the groups of --help.
void printGroups(std::ostream& out, const std::vector<OptionRow>& options) {
  std::vector<std::string> groups;
  for (const OptionRow& option : options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  for (const std::string& group : groups) {
    std::vector<OptionRow> members;
    std::copy_if(options.begin(), options.end(), std::back_inserter(members),
                 [&](const OptionRow& option) { return option.group == group; });
    out << ".SS \"" << escaped(group) << "\"\n";
    printOptions(out, members);
  }
}

constexpr const char* kRest = R"(.SH EXIT STATUS
.TP
.B 0
The command did what it was asked for.
.TP
.B 1
The module or file was refused, or results disagree. The reason is on stderr.
.TP
.B 2
The command line is wrong.
.TP
.BR 130 ", " 143
A signal ended the command. No file is half written.
.SH ENVIRONMENT
.TP
.B NO_COLOR
Text has no colours, whatever the terminal.
.TP
.B TORCHTRT_PYTHON
The Python that compiles programs of torch.export.
.TP
.B TORCHTRT_DISABLE_FUSION
Fusion rules to leave out, with commas between them.
.TP
.B TORCHTRT_MAX_ISA
The best instruction set that kernels may use, such as avx2.
)";

void printPage(std::ostream& out, const std::vector<CommandRow>& table) {
  out << ".TH TORCHTRTC 1 \"\" \"torchtrtc " << TORCHTRT_VERSION_STRING << "\" \"User Commands\"\n"
      << ".SH NAME\ntorchtrtc \\- compile, run and inspect TorchScript modules with inference engines\n"
      << ".SH SYNOPSIS\n";
  for (size_t i = 0; i < table.size(); ++i) {
    const std::string call = i == 0 ? "torchtrtc INPUT OUTPUT SPECS..." : table[i].call;
    out << (i == 0 ? "" : ".br\n") << escaped(call) << " [OPTIONS]\n";
  }
  const std::string& meaning = table.front().meaning;
  out << ".SH DESCRIPTION\n"
      << escaped(meaning.substr(0, meaning.find("\n\n"))) << "\n.PP\n.nf\n"
      << escaped(meaning.substr(meaning.find("\n\n") + 2)) << ".fi\n"
      << ".SH ARGUMENTS\n";
  printOptions(out, table.front().arguments);
  out << ".SH OPTIONS OF A COMPILE\n";
  printGroups(out, table.front().options);
  out << ".SH COMMANDS\n";
  for (size_t i = 1; i < table.size(); ++i) {
    out << ".SS \"" << escaped(table[i].call) << "\"\n" << escaped(table[i].meaning) << ".\n";
    printOptions(out, table[i].arguments);
    printOptions(out, table[i].options);
  }
  out << kRest;
}

}  // namespace

void addManCommand(CLI::App& app) {
  auto* command = app.add_subcommand("man", "Print the manual page: torchtrtc man | man -l -");
  command->group("Commands");
  command->callback([&app] { printPage(std::cout, commandTable(app)); });
}

}  // namespace torchtrtc
