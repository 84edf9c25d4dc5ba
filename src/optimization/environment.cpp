#include "optimization/environment.h"

#include <cstdlib>
#include <sstream>

#include "base/dump.h"
#include "torchtrt/plugin.h"

namespace torchtrt::optimization {

namespace {

constexpr const char* kLevel = "network";  // of dumps

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream stream(text);
  for (std::string name; std::getline(stream, name, ',');) {
    names.push_back(name);
  }
  return names;
}

}  // namespace

void optimizeAsEnvironmentSays(network::Network& network, Options options) {
  for (const std::string& name : split(variable("TORCHTRT_DISABLE_PASSES"))) {
    options.disabled.push_back(name);
  }
  if (!dump::isOn()) {
    optimize(network, options);
    return;
  }
  dump::write(kLevel, network.name(), "converted", network::print(network));
  optimize(network, options);
  dump::write(kLevel, network.name(), "optimized", network::print(network));
}

std::unique_ptr<network::Network> optimized(const network::Network& network) {
  plugin::registerBuiltinPlugins();
  network::verify(network);
  std::unique_ptr<network::Network> copy = network.clone();
  optimizeAsEnvironmentSays(*copy);
  return copy;
}

}  // namespace torchtrt::optimization
