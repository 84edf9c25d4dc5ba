// A CompileSpec as values of TorchScript, which can be saved, and back. Without what no file holds: a calibrator,
// rewriters, a watcher.
#pragma once

#include "runtime/delegate.h"
#include "torchtrt/options.h"

namespace torchtrt::compiler {

using Settings = runtime::DelegateSpec::Settings;

Settings settingsOf(const ts::CompileSpec& spec);
// Throws c10::Error for what settingsOf() did not make.
ts::CompileSpec specOf(const Settings& settings);

}  // namespace torchtrt::compiler
