// The whole command line: every command with its options, and the form in which the parser takes arguments.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace torchtrtc {

std::unique_ptr<CLI::App> makeTool();

// Returns the arguments, without the program's name, in the order that CLI11 wants, last first. It takes "[a,b]" apart
// as a list; a space behind keeps an input specification whole.
std::vector<std::string> forParser(std::vector<std::string> arguments);

}  // namespace torchtrtc
