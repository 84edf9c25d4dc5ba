#include "command_line.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

#include "base/edit_distance.h"

namespace torchtrtc {
namespace {

using torchtrt::CompileError;
using torchtrt::ErrorCode;

// The command that was called, which is the tool itself where it compiles.
const CLI::App& calledOf(const CLI::App& app) {
  const std::vector<CLI::App*> commands = app.get_subcommands();
  return commands.empty() ? app : *commands.front();
}

std::string nameOf(const CLI::App& command) {
  return command.get_parent() == nullptr ? "torchtrtc" : "torchtrtc " + command.get_name();
}

// The option of the command that is spelt most alike; empty where none is near.
std::string nearest(const CLI::App& command, const std::string& word) {
  std::string found;
  size_t least = word.size() / 3 + 1;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      const size_t distance = torchtrt::editDistance("--" + name, word);
      if (distance < least) {
        least = distance;
        found = "--" + name;
      }
    }
  }
  return found;
}

CompileError wrong(const std::string& message, const std::string& advice) {
  return {ErrorCode::kInvalidOption, message, {}, advice};
}

CompileError unexpectedError(const CLI::App& command) {
  const std::vector<std::string> words = command.remaining();
  const std::string word = words.empty() ? "" : words.front();
  if (!word.starts_with('-')) {
    return wrong("\"" + word + "\" is one argument too many", "call " + callOf(command));
  }
  const std::string option = word.substr(0, word.find('='));
  const std::string near = nearest(command, option);
  return wrong("there is no option \"" + option + "\" of " + nameOf(command),
               (near.empty() ? "" : "did you mean " + near + "? ") + nameOf(command) + " --help lists all");
}

// "Could not convert: --mbs = many"
CompileError conversionError(const CLI::App& command, const std::string& text) {
  const size_t colon = text.find(": ");
  const size_t equals = text.find(" = ");
  if (colon == std::string::npos || equals == std::string::npos || equals < colon) {
    return wrong(text, "see " + nameOf(command) + " --help");
  }
  const std::string name = text.substr(colon + 2, equals - colon - 2);
  const CLI::Option* option = command.get_option_no_throw(name);
  const bool is_flag = option != nullptr && option->get_expected_min() == 0;
  return wrong(name + ": expected " + (is_flag ? "no value" : "a number") + ", got \"" + text.substr(equals + 3) + "\"",
               "see " + nameOf(command) + " --help");
}

class HelpLayout : public CLI::Formatter {
 public:
  HelpLayout() {
    column_width(kColumn);
    label("Positionals", "Arguments");
  }

  std::string make_usage(const CLI::App* app, std::string /*name*/) const override {
    if (app->get_parent() != nullptr) {
      return "\nUsage: " + callOf(*app) + " [OPTIONS]\n";
    }
    return "Usage: torchtrtc INPUT OUTPUT SPECS... [OPTIONS]\n       torchtrtc COMMAND ARGUMENTS... [OPTIONS]\n";
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string value = option->get_positional() ? "" : valueOf(*option);
    const std::string& otherwise = option->get_default_str();
    return value.empty() ? "" : " " + value + (otherwise.empty() ? "" : "=" + otherwise);
  }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    return CLI::detail::find_and_replace(CLI::Formatter::make_help(app, std::move(name), mode), "\n\n\n", "\n\n");
  }

  std::string make_subcommand(const CLI::App* command) const override {
    std::ostringstream out;
    CLI::detail::format_help(out, command->get_name(), wrapped(command->get_description()), kColumn);
    return out.str();
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(option->get_description());
  }

 private:
  static constexpr size_t kColumn = 38;
  static constexpr size_t kWidth = 110;

  static std::string wrapped(const std::string& text) {
    std::string lines;
    size_t length = 0;
    std::istringstream words(text);
    for (std::string word; words >> word; length += word.size() + 1) {
      const bool fits = kColumn + length + word.size() <= kWidth;
      lines += length == 0 ? "" : fits ? " " : "\n";
      length = fits ? length : 0;
      lines += word;
    }
    return lines;
  }
};

}  // namespace

std::string callOf(const CLI::App& command) {
  std::string text = nameOf(command);
  for (const CLI::Option* option :
       command.get_options([](const CLI::Option* each) { return each->get_positional(); })) {
    const std::string name = option->get_name(true) + (option->get_expected_max() > 1 ? "..." : "");
    text += " " + (option->get_required() ? name : "[" + name + "]");
  }
  return text;
}

std::string valueOf(const CLI::Option& option) {
  if (option.get_expected_max() == 0 || option.get_type_size() == 0) {
    return "";
  }
  const std::string& text = option.get_option_text();
  return text.empty() ? option.get_type_name() : text;
}

std::shared_ptr<CLI::FormatterBase> helpLayout() {
  return std::make_shared<HelpLayout>();
}

CLI::Validator atLeast(int least) {
  const std::string expected = std::to_string(least) + " or more";
  return {[least, expected](std::string& text) -> std::string {
            int value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool is_number = error == std::errc() && end == text.data() + text.size();
            return is_number && value >= least ? "" : "expected a whole number, " + expected + ", got \"" + text + "\"";
          },
          expected, ""};
}

CLI::Validator oneOf(const std::vector<std::string>& words) {
  std::string shown;
  std::string expected;
  for (size_t i = 0; i < words.size(); ++i) {
    shown += (i == 0 ? "" : "|") + words[i];
    expected += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  }
  return {[words, expected](std::string& text) -> std::string {
            const bool is_one = std::find(words.begin(), words.end(), text) != words.end();
            return is_one ? "" : "expected " + expected + ", got \"" + text + "\"";
          },
          shown, ""};
}

CLI::Option* addRepeatable(CLI::App& command, const std::string& names, std::vector<std::string>& values,
                           const std::string& value, const std::string& meaning) {
  return command.add_option(names, values, meaning + " (repeatable)")->allow_extra_args(false)->option_text(value);
}

CompileError commandLineError(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = calledOf(app);
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    return unexpectedError(command);
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    return conversionError(command, text);
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {  // "FILE is required"
    return wrong("no " + text.substr(0, text.find(' ')) + " was given", "call " + callOf(command));
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {  // "--mbs: 1 required UINT missing"
    const bool is_missing = text.ends_with(" missing");
    return wrong(
        text.substr(0, text.find(':')) + (is_missing ? ": expected a value, got none" : " was given twice"),
        (is_missing ? "write it behind the option; see " : "give it once; see ") + nameOf(command) + " --help");
  }
  return wrong(text, "see " + nameOf(command) + " --help");
}

}  // namespace torchtrtc
