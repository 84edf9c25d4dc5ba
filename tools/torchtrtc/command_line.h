// What is wrong with a command line, said as all other errors are said. Only CLI11's findings; what options mean
// together is the commands' question.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "torchtrt/error.h"

namespace torchtrtc {

// The kinds of value that options check.
CLI::Validator atLeast(int least);  // whole numbers
CLI::Validator oneOf(const std::vector<std::string>& words);

// Of the parser's error: kInvalidOption, with expected, got and the way out.
torchtrt::CompileError commandLineError(const CLI::App& app, const CLI::ParseError& error);

}  // namespace torchtrtc
