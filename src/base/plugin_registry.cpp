// The registry of plugin creators.
#include <map>
#include <mutex>
#include <new>
#include <tuple>

#include "base/attribute_fault.h"
#include "torchtrt/plugin.h"

namespace torchtrt::plugin {
namespace {

using Key = std::tuple<std::string, std::string, std::string>;  // namespace, type, version

std::string textOf(const Key& key) {
  const auto& [plugin_namespace, type, version] = key;
  return (plugin_namespace.empty() ? "" : plugin_namespace + "::") + type + " version " + version;
}

// Throws EngineError (kPlugin) for names that are no texts.
Key keyOf(const Attributes& attributes) {
  try {
    return {attributes.getString("namespace", ""), attributes.getString("type", ""),
            attributes.getString("version", "1")};
  } catch (const AttributeFault& fault) {
    throw EngineError(ErrorCode::kPlugin, "the name of a plugin: " + fault.message());
  }
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "none" : text;
}

// Fields are a user's, and so are most creators: what they throw that is no error of torchtrt becomes one that names
// the plugin. A lack of memory is the caller's.
std::unique_ptr<Plugin> createWith(const PluginCreator& creator, const Attributes& fields, const Key& key) {
  try {
    return creator.create(fields);
  } catch (const AttributeFault& fault) {
    throw EngineError(ErrorCode::kPlugin, "plugin " + textOf(key) + ": " + fault.message(), {},
                      "give the layer the field that the plugin asks for");
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw EngineError(ErrorCode::kPlugin, "plugin " + textOf(key) + " cannot be made: " + error.what(), {},
                      "check the fields that the layer gives it");
  }
}

}  // namespace

Plugin::~Plugin() = default;
PluginCreator::~PluginCreator() = default;

size_t Plugin::scratchBytes(std::span<const InputView> /*inputs*/) const {
  return 0;
}

struct PluginRegistry::Impl {
  mutable std::mutex mutex;
  struct Entry {
    std::shared_ptr<const PluginCreator> creator;
    std::string library;
  };
  std::map<Key, Entry> creators;
};

PluginRegistry::PluginRegistry() : impl_(std::make_unique<Impl>()) {}
PluginRegistry::~PluginRegistry() = default;

// Never destroyed: plugins' libraries may be unloaded after our own static objects are gone.
PluginRegistry& PluginRegistry::global() {
  static auto* registry = new PluginRegistry;
  return *registry;
}

void PluginRegistry::add(const std::shared_ptr<const PluginCreator>& creator, const std::string& library) {
  if (creator == nullptr) {
    throw EngineError(ErrorCode::kPlugin,
                      "expected a plugin's creator, got a null pointer" +
                          (library.empty() ? std::string() : " from library '" + library + "'"),
                      {}, "register creators that exist");
  }
  Key key{creator->pluginNamespace(), creator->type(), creator->version()};
  if (creator->interfaceVersion() != kInterfaceVersion) {
    throw EngineError(ErrorCode::kPlugin,
                      "plugin " + textOf(key) + " was built for plugin interface " +
                          std::to_string(creator->interfaceVersion()) + ", expected " +
                          std::to_string(kInterfaceVersion),
                      {}, "rebuild the plugin's library with the headers of this torchtrt");
  }
  const std::lock_guard lock(impl_->mutex);
  const auto [entry, is_new] = impl_->creators.try_emplace(key, Impl::Entry{creator, library});
  if (!is_new) {
    throw EngineError(ErrorCode::kPlugin, "plugin " + textOf(key) + " is registered already", {},
                      "give the new plugin another version or namespace, or remove the old one first");
  }
}

void PluginRegistry::remove(std::string_view plugin_namespace, std::string_view type, std::string_view version) {
  const std::lock_guard lock(impl_->mutex);
  impl_->creators.erase(Key{plugin_namespace, type, version});
}

std::shared_ptr<const PluginCreator> PluginRegistry::find(std::string_view plugin_namespace, std::string_view type,
                                                          std::string_view version) const {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->creators.find(Key{plugin_namespace, type, version});
  return found == impl_->creators.end() ? nullptr : found->second.creator;
}

std::string PluginRegistry::libraryOf(const Attributes& attributes) const {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->creators.find(keyOf(attributes));
  return found == impl_->creators.end() ? "" : found->second.library;
}

std::unique_ptr<Plugin> PluginRegistry::create(const Attributes& attributes) const {
  const Key key = keyOf(attributes);
  const auto& [plugin_namespace, type, version] = key;
  const std::shared_ptr<const PluginCreator> creator = find(plugin_namespace, type, version);
  if (creator == nullptr) {
    const std::string library = attributes.getString("library", "");
    const std::string what = library.empty() ? "the library that registers it" : "library '" + library + "'";
    throw EngineError(ErrorCode::kPlugin,
                      "plugin " + textOf(key) + " is not registered (registered: " + joined(names()) + ")" +
                          (library.empty() ? "" : "; it comes from library '" + library + "'"),
                      {}, "load " + what + " before compiling or loading");
  }
  Attributes fields = attributes;
  fields.erase("library");
  std::unique_ptr<Plugin> plugin = createWith(*creator, fields, key);
  if (plugin == nullptr) {
    throw EngineError(ErrorCode::kPlugin, "the creator of plugin " + textOf(key) + " made nothing", {},
                      "check the fields that the layer gives it");
  }
  return plugin;
}

std::vector<std::string> PluginRegistry::names() const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<std::string> names;
  for (const auto& [key, creator] : impl_->creators) {
    names.push_back(textOf(key));
  }
  return names;
}

}  // namespace torchtrt::plugin
