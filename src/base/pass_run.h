// Runs one pass of any level, graphs of TorchScript and networks alike: a checkpoint in front of it, its time in the
// debug log, its text where somebody asks for that, and the checks that its pipeline wants.
#pragma once

#include <functional>
#include <string>

#include "torchtrt/export.h"

namespace torchtrt {

struct PassRun {
  std::string level;                                       // "torchscript", "network": as in TORCHTRT_DUMP
  std::string subject;                                     // the name of what it changes
  std::string pass;                                        // its own name
  std::function<std::string()> print;                      // gives what it changes as text
  std::function<void()> verify = nullptr;                  // called where it has changed something
  bool check_changed = false;                              // compares texts, so that a pass cannot lie about that
  std::string dump_after = {};                             // regular expression over names: passes whose text goes
  std::function<void(const std::string&)> dump = nullptr;  // here
};

// Returns what `body` returns: true if it changed anything. Throws CompileError(kInvalidOption) for a `dump_after` that
// is no regular expression, and InternalError where check_changed finds a lie.
TORCHTRT_API bool runPass(const PassRun& run, const std::function<bool()>& body);

}  // namespace torchtrt
