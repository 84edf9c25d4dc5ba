// The short lines on stderr that say how a compile went: a title in a column, in bold where a terminal wants that, and
// a text beside it.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "torchtrt/compile.h"

namespace torchtrtc {

// Without a title the text goes on below the row before.
void tellRow(const std::string& title, const std::string& text);

// The rows of a finished compile: module and time, engines, reasons for PyTorch, int8.
void tellSummary(const torchtrt::Report& report);

// "wrote       compiled.ts, 272.4 KB"
void tellWritten(const std::string& path);

// "torchtrtc: " in front of an error, red where a terminal wants that.
std::string errorPrefix();

// --color of the tool and of all commands that it has by now.
void addColorOption(CLI::App& app);

}  // namespace torchtrtc
