// The plugins that come with torchtrt, and those that the environment names.
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <string>

#include "cpu/attention/attention.h"
#include "cpu/attention/gpt_attention.h"
#include "cpu/counted/plugins.h"
#include "cpu/fourier/plugins.h"
#include "cpu/matmul/plugins.h"
#include "cpu/regions/plugins.h"
#include "cpu/resize/plugins.h"
#include "cpu/search/plugins.h"
#include "torchtrt/error.h"
#include "torchtrt/plugin.h"

namespace torchtrt::plugin {

namespace {

// Whoever may write to the working directory must not choose the library. A name alone is looked for where the system
// has libraries.
void refuseRelative(const std::string& path) {
  if (path.front() != '/' && path.find('/') != std::string::npos) {
    throw EngineError(
        ErrorCode::kPlugin,
        "plugin library '" + path + "' of TORCHTRT_PLUGINS has a path that depends on the working directory", {},
        "write a path that begins with /");
  }
}

}  // namespace

void registerBuiltinPlugins() {
  static std::once_flag once;
  std::call_once(once, [] {
    PluginRegistry::global().add(kernels::attention::createAttentionCreator());
    PluginRegistry::global().add(kernels::attention::createGptAttentionCreator());
    PluginRegistry::global().add(kernels::regions::createPoolRegionsCreator());
    PluginRegistry::global().add(kernels::regions::createDeformedColumnsCreator());
    PluginRegistry::global().add(kernels::resize::createAntialiasedResizeCreator());
    PluginRegistry::global().add(kernels::search::createSearchCreator());
    PluginRegistry::global().add(kernels::fourier::createFourierCreator());
    PluginRegistry::global().add(kernels::fourier::createShortTimeFourierCreator());
    PluginRegistry::global().add(kernels::fourier::createInverseShortTimeFourierCreator());
    PluginRegistry::global().add(kernels::matmul::createGroupedProductCreator());
    PluginRegistry::global().add(kernels::counted::createNonZeroCreator());
    PluginRegistry::global().add(kernels::counted::createMaskedRowsCreator());
    PluginRegistry::global().add(kernels::counted::createUniqueCreator());
    PluginRegistry::global().add(kernels::counted::createSuppressionCreator());
  });
  // A program that runs with more rights than its user takes none.
  const char* libraries = secure_getenv("TORCHTRT_PLUGINS");
  std::istringstream stream(libraries == nullptr ? "" : libraries);
  for (std::string path; std::getline(stream, path, ':');) {
    if (!path.empty()) {
      refuseRelative(path);
      loadLibrary(path);
    }
  }
}

}  // namespace torchtrt::plugin
