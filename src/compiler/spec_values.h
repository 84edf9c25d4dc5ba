// A CompileSpec as values of TorchScript, which can be saved, and back. Without what no file holds: a calibrator,
// rewriters, a watcher.
#pragma once

#include "runtime/delegate.h"
#include "torchtrt/options.h"

namespace torchtrt::compiler {

using Settings = runtime::DelegateSpec::Settings;

Settings noSettings();
Settings settingsOf(const ts::CompileSpec& spec);
// Throws c10::Error for what settingsOf() did not make.
ts::CompileSpec specOf(const Settings& settings);
// Pickled, settings are a dictionary without types of its own.
ts::CompileSpec specOfPickled(const torch::jit::IValue& settings);

}  // namespace torchtrt::compiler
