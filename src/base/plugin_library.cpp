// Plugins from users' shared libraries.
#include <dlfcn.h>

#include <filesystem>
#include <mutex>
#include <set>

#include "torchtrt/plugin.h"

namespace torchtrt::plugin {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& problem, const std::string& advice) {
  throw EngineError(ErrorCode::kPlugin, "plugin library '" + path + "' " + problem, {}, advice);
}

template <typename Function>
Function symbolOf(void* library, const std::string& path, const char* name) {
  auto* function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    refuse(path, std::string("has no ") + name, "make the library with TORCHTRT_PLUGIN_LIBRARY of torchtrt/plugin.h");
  }
  return function;
}

}  // namespace

void loadLibrary(const std::string& path) {
  static std::mutex mutex;
  static auto* loaded = new std::set<void*>;
  const std::lock_guard lock(mutex);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    refuse(path, std::string("cannot be opened: ") + dlerror(), "check the path, and that its dependencies are found");
  }
  if (loaded->count(library) != 0) {
    return;
  }
  const int version = symbolOf<int (*)()>(library, path, "torchtrtPluginInterfaceVersion")();
  if (version != kInterfaceVersion) {
    refuse(
        path,
        "was built for plugin interface " + std::to_string(version) + ", expected " + std::to_string(kInterfaceVersion),
        "rebuild the plugin's library with the headers of this torchtrt");
  }
  CreatorList creators;
  symbolOf<void (*)(CreatorList*)>(library, path, "torchtrtPluginCreators")(&creators);
  for (const std::shared_ptr<const PluginCreator>& creator : creators) {
    PluginRegistry::global().add(creator, std::filesystem::path(path).filename().string());
  }
  loaded->insert(library);
}

}  // namespace torchtrt::plugin
