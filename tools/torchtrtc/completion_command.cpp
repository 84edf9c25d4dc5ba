// torchtrtc completion: a program for a shell that completes the tool's commands, options and values, made of the same
// table as --help.

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "command_line.h"
#include "commands.h"
#include "option_table.h"

namespace torchtrtc {
namespace {

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : between) + word;
  }
  return text;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// In single quotes, as bash and zsh read them.
std::string quoted(const std::string& text) {
  return "'" + replaced(text, "'", "'\\''") + "'";
}

std::vector<std::string> namesOf(const std::vector<CommandRow>& table) {
  std::vector<std::string> names;
  for (size_t i = 1; i < table.size(); ++i) {
    names.push_back(table[i].name);
  }
  return names;
}

std::vector<std::string> optionNames(const CommandRow& command) {
  std::vector<std::string> names;
  for (const OptionRow& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

// The words of a command's arguments, where they are few: "bash zsh fish".
std::vector<std::string> argumentChoices(const CommandRow& command) {
  std::vector<std::string> words;
  for (const OptionRow& argument : command.arguments) {
    words.insert(words.end(), argument.choices.begin(), argument.choices.end());
  }
  return words;
}

// A pattern of `case` for each option with a value, and what the value may be.
void printBashValues(std::ostream& out, const CommandRow& command) {
  out << "      case \"$previous\" in\n";
  for (const OptionRow& option : command.options) {
    if (!option.value.empty()) {
      out << "        " << joined(option.names, "|") << ") "
          << (option.takes_file        ? "files=1"
              : option.choices.empty() ? ":"
                                       : "words=" + quoted(joined(option.choices, " ")))
          << ";;\n";
    }
  }
  const std::vector<std::string> choices = argumentChoices(command);
  out << "        *) options=" << quoted(joined(optionNames(command), " "))
      << (choices.empty() ? " files=1" : " words=" + quoted(joined(choices, " "))) << ";;\n      esac;;\n";
}

void printBash(std::ostream& out, const std::vector<CommandRow>& table) {
  out << R"(# Completion of torchtrtc for bash. "torchtrtc completion bash" printed it.
_torchtrtc() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
  local command="" options="" words="" files=""
  if [[ $current == "=" ]]; then
    current=""
  elif [[ $previous == "=" ]]; then
    previous="${COMP_WORDS[COMP_CWORD-2]}"
  fi
  if ((COMP_CWORD > 1)); then
    command="${COMP_WORDS[1]}"
  fi
  case "$command" in
)";
  for (size_t i = 1; i < table.size(); ++i) {
    out << "    " << table[i].name << ")\n";
    printBashValues(out, table[i]);
  }
  out << "    *)\n";
  printBashValues(out, table.front());
  out << "  esac\n  if ((COMP_CWORD == 1)); then\n    words=" << quoted(joined(namesOf(table), " ")) << "\n  fi\n"
      << R"(  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  if [[ -n $files ]]; then
    compopt -o filenames 2> /dev/null
    local file
    while IFS= read -r file; do
      COMPREPLY+=("$file")
    done < <(compgen -f -- "$current")
  fi
}
complete -F _torchtrtc torchtrtc
)";
}

// Text inside of the brackets of a specification of zsh's _arguments.
std::string zshText(const std::string& text) {
  return replaced(replaced(replaced(text, "[", "\\["), "]", "\\]"), ":", "\\:");
}

void printZshArguments(std::ostream& out, const CommandRow& command) {
  const auto valueText = [](const OptionRow& option) {
    const std::string action = option.takes_file        ? "_files"
                               : option.choices.empty() ? " "
                                                        : "(" + joined(option.choices, " ") + ")";
    return ":" + zshText(option.value) + ":" + action;
  };
  out << "_arguments -s";
  for (const OptionRow& option : command.options) {
    for (const std::string& name : option.names) {
      const bool is_long = name.starts_with("--");
      const std::string mark = option.value.empty() ? "" : is_long ? "=" : "+";
      out << " \\\n        "
          << quoted("*" + name + mark + "[" + zshText(option.meaning) + "]" +
                    (option.value.empty() ? "" : valueText(option)));
    }
  }
  for (const OptionRow& argument : command.arguments) {
    const bool has_more = &argument == &command.arguments.back();
    out << " \\\n        " << quoted((has_more ? "*" : "") + valueText(argument));
  }
  out << "\n";
}

void printZsh(std::ostream& out, const std::vector<CommandRow>& table) {
  out << R"(#compdef torchtrtc
# Completion of torchtrtc for zsh. "torchtrtc completion zsh" printed it.
_torchtrtc() {
  local -a commands=(
)";
  for (size_t i = 1; i < table.size(); ++i) {
    out << "    " << quoted(replaced(table[i].name + ":" + table[i].meaning, "\n", " ")) << "\n";
  }
  out << R"(  )
  if ((CURRENT == 2)) && [[ $words[CURRENT] != -* ]]; then
    _describe -t commands command commands
    _files
    return
  fi
  case "$words[2]" in
)";
  for (size_t i = 1; i < table.size(); ++i) {
    out << "    " << table[i].name << ")\n      shift words\n      ((CURRENT--))\n      ";
    printZshArguments(out, table[i]);
    out << "      ;;\n";
  }
  out << "    *)\n      ";
  printZshArguments(out, table.front());
  out << R"(      ;;
  esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _torchtrtc "$@"
else
  compdef _torchtrtc torchtrtc
fi
)";
}

// In single quotes, as fish reads them.
std::string fishQuoted(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

void printFishRow(std::ostream& out, const OptionRow& option, const std::string& condition) {
  std::string names;
  for (const std::string& name : option.names) {
    names += name.starts_with("--") ? " -l " + name.substr(2) : name.starts_with('-') ? " -s " + name.substr(1) : "";
  }
  std::string value;
  if (option.takes_file) {
    value = " -r -F";
  } else if (!option.choices.empty()) {
    value = " -x -a " + fishQuoted(joined(option.choices, " "));
  } else if (!option.value.empty() && !names.empty()) {
    value = " -x";
  }
  if (!names.empty() || !option.choices.empty()) {
    out << "complete -c torchtrtc -n " << fishQuoted(condition) << names << value << " -d "
        << fishQuoted(option.meaning) << "\n";
  }
}

void printFish(std::ostream& out, const std::vector<CommandRow>& table) {
  out << "# Completion of torchtrtc for fish. \"torchtrtc completion fish\" printed it.\n";
  for (size_t i = 0; i < table.size(); ++i) {
    const std::string condition = i == 0 ? "not __fish_seen_subcommand_from " + joined(namesOf(table), " ")
                                         : "__fish_seen_subcommand_from " + table[i].name;
    if (i > 0) {
      out << "complete -c torchtrtc -n __fish_is_first_arg -a " << table[i].name << " -d "
          << fishQuoted(table[i].meaning) << "\n";
    }
    for (const OptionRow& option : table[i].options) {
      printFishRow(out, option, condition);
    }
    for (const OptionRow& argument : table[i].arguments) {
      if (!argument.choices.empty()) {
        printFishRow(out, argument, condition);
      }
    }
  }
}

void printCompletion(const std::string& shell, const CLI::App& app) {
  const std::vector<CommandRow> table = commandTable(app);
  if (shell == "bash") {
    printBash(std::cout, table);
  } else if (shell == "zsh") {
    printZsh(std::cout, table);
  } else {
    printFish(std::cout, table);
  }
}

}  // namespace

void addCompletionCommand(CLI::App& app) {
  auto* command = app.add_subcommand("completion", "Print a program that completes this tool's words in a shell");
  auto shell = std::make_shared<std::string>();
  command->group("Commands");
  command->add_option("SHELL", *shell, "bash, zsh or fish; source <(torchtrtc completion bash) tries it out")
      ->option_text("bash|zsh|fish")
      ->check(oneOf({"bash", "zsh", "fish"}))
      ->required();
  command->callback([shell, &app] { printCompletion(*shell, app); });
}

}  // namespace torchtrtc
