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
#include "torchtrt/plugin.h"

namespace torchtrt::plugin {

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
  const char* libraries = std::getenv("TORCHTRT_PLUGINS");
  std::istringstream stream(libraries == nullptr ? "" : libraries);
  for (std::string path; std::getline(stream, path, ':');) {
    if (!path.empty()) {
      loadLibrary(path);
    }
  }
}

}  // namespace torchtrt::plugin
