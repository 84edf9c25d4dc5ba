// Prints the command line's help, and tells what is wrong with a call in the form of all other errors. Only CLI11's
// findings; the commands check what options mean together.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "torchtrt/error.h"

namespace torchtrtc {

// The kinds of value that options check.
CLI::Validator atLeast(int least);  // whole numbers
CLI::Validator oneOf(const std::vector<std::string>& words);

// The layout of --help: calls as they are written, values by what they mean, lines of at most 110 columns.
std::shared_ptr<CLI::FormatterBase> helpLayout();

// "torchtrtc run FILE [SPECS...]"
std::string callOf(const CLI::App& command);
// Returns the word that help shows for an option's value: "FILE"; empty for flags.
std::string valueOf(const CLI::Option& option);

// An option that may be given several times, with a value each time; help calls it `value`.
CLI::Option* addRepeatable(CLI::App& command, const std::string& names, std::vector<std::string>& values,
                           const std::string& value, const std::string& meaning);

// Turns the parser's error into kInvalidOption, with expected, got and the way out.
torchtrt::CompileError commandLineError(const CLI::App& app, const CLI::ParseError& error);

}  // namespace torchtrtc
