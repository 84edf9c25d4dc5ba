// Operators of users' own: a creator per (namespace, type, version) makes plugins from the fields of a PLUGIN_V2 layer.
// The builder asks them for shapes, the engine runs them on the CPU. Registering is an explicit call; clashes are
// errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "torchtrt/error.h"
#include "torchtrt/export.h"
#include "torchtrt/types.h"

namespace torchtrt::plugin {

// Raised when anything below changes. It is compiled into the plugin's library, so that an old library is refused, not
// called.
inline constexpr int kInterfaceVersion = 1;

// Strides in elements; of inputs in any order and 0 where a dim is broadcast, of outputs row-major.
struct InputView {
  DType dtype = DType::kFloat32;
  TORCHTRT_SPAN<const int64_t> dims;
  TORCHTRT_SPAN<const int64_t> strides;
  const void* data = nullptr;
};
struct OutputView {
  DType dtype = DType::kFloat32;
  TORCHTRT_SPAN<const int64_t> dims;
  TORCHTRT_SPAN<const int64_t> strides;
  void* data = nullptr;
};

// One operator with its fields set. Immutable: any number of threads call it at the same time.
class TORCHTRT_API Plugin {
 public:
  virtual ~Plugin();
  virtual int outputCount() const {
    return 1;
  }
  // True if the operator takes inputs of these dtypes.
  virtual bool supports(TORCHTRT_SPAN<const DType> inputs) const = 0;
  // Types of the outputs; dims may be symbolic. Throws for shapes that the operator does not take.
  virtual std::vector<TensorType> inferOutputs(TORCHTRT_SPAN<const TensorType> inputs) const = 0;
  // Bytes of 64-byte aligned scratch memory that enqueue wants for these inputs (data is null here).
  virtual size_t scratchBytes(TORCHTRT_SPAN<const InputView> inputs) const;
  // Computes the outputs with at most `threads` threads. Throws EngineError for faults in the data.
  virtual void enqueue(TORCHTRT_SPAN<const InputView> inputs, TORCHTRT_SPAN<const OutputView> outputs, void* scratch,
                       int threads) const = 0;
};

class TORCHTRT_API PluginCreator {
 public:
  virtual ~PluginCreator();
  virtual int interfaceVersion() const {  // not to be overridden: this body is the library's own
    return kInterfaceVersion;
  }
  virtual std::string pluginNamespace() const {
    return "";
  }
  virtual std::string type() const = 0;
  virtual std::string version() const {
    return "1";
  }
  // `fields` are the layer's attributes, with namespace, type and version among them. Throws for fields it does not
  // take.
  virtual std::unique_ptr<Plugin> create(const Attributes& fields) const = 0;
};

// The process's creators. Safe to use from several threads.
class TORCHTRT_API PluginRegistry {
 public:
  static PluginRegistry& global();
  PluginRegistry();
  ~PluginRegistry();
  PluginRegistry(const PluginRegistry&) = delete;
  PluginRegistry& operator=(const PluginRegistry&) = delete;

  // Throws EngineError (kPlugin) for a null pointer, and when the name is taken or the interface version is another
  // one. `library`: the file it came from, which plans remember.
  void add(const std::shared_ptr<const PluginCreator>& creator, const std::string& library = "");
  void remove(std::string_view plugin_namespace, std::string_view type, std::string_view version);
  std::shared_ptr<const PluginCreator> find(std::string_view plugin_namespace, std::string_view type,
                                            std::string_view version) const;
  // File name of the library that the plugin of these attributes came from; "" when it is unknown or linked in.
  std::string libraryOf(const Attributes& attributes) const;
  // The plugin that a PLUGIN_V2 layer's attributes name. Throws EngineError (kPlugin) when there is none, or creating
  // it fails. A field "library" (builders add it) is for the message only.
  std::unique_ptr<Plugin> create(const Attributes& attributes) const;
  std::vector<std::string> names() const;  // "namespace::type version 1", sorted

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Opens a shared library made with TORCHTRT_PLUGIN_LIBRARY and registers its plugins; once per library, which stays
// open. Throws EngineError (kPlugin) for a file that is no such library or was built for another interface version.
TORCHTRT_API void loadLibrary(const std::string& path);

// Registers the plugins that come with torchtrt, once. Builder, engine and tools call it.
TORCHTRT_API void registerBuiltinPlugins();

using CreatorList = std::vector<std::shared_ptr<const PluginCreator>>;

}  // namespace torchtrt::plugin

// Use it in one file of a plugin library; `creators` is a function without arguments that returns a CreatorList. The
// version is asked for before anything else of the library is touched.
#define TORCHTRT_PLUGIN_LIBRARY(creators)                                                            \
  extern "C" TORCHTRT_API int torchtrtPluginInterfaceVersion() {                                     \
    return torchtrt::plugin::kInterfaceVersion;                                                      \
  }                                                                                                  \
  extern "C" TORCHTRT_API void torchtrtPluginCreators(torchtrt::plugin::CreatorList* creators_out) { \
    *creators_out = creators();                                                                      \
  }
