// PLUGIN_V2 layers as every backend sees them: whose they are, and if their operands fit.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "kernels/kernel.h"
#include "torchtrt/plugin.h"

namespace torchtrt::kernels {

// "torchtrt::Attention"
TORCHTRT_API std::string pluginName(const Attributes& attributes);

// Throws EngineError(kPlugin) where operands do not fit each other or the plugin's fields, or outputs are not those
// that it would write: plans are checked byte by byte, but what their plugins' fields mean is known to the plugin
// alone.
TORCHTRT_API void checkPluginShapes(const plugin::Plugin& plugin, const std::string& name, const ShapeSet& shapes);

// Runs code of a plugin; whatever it throws that is no error of torchtrt becomes one that names it. A lack of memory is
// the call's.
template <typename Call>
auto guardPlugin(const std::string& name, Call&& call) {
  try {
    return call();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw EngineError(ErrorCode::kPlugin, "plugin " + name + " failed: " + error.what(), {},
                      "the fault is in the plugin or in the data it was given");
  }
}

}  // namespace torchtrt::kernels
