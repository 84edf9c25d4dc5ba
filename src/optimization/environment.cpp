#include "optimization/environment.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "torchtrt/plugin.h"

namespace torchtrt::optimization {

namespace {

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

// Writes DIR/<network>.<number>.<what>.txt.
class Dump {
 public:
  Dump(std::string folder, std::string network) : folder_(std::move(folder)), network_(std::move(network)) {
    std::replace_if(
        network_.begin(), network_.end(), [](unsigned char c) { return !std::isalnum(c) && c != '_' && c != '-'; },
        '_');
  }

  void writeIfChanged(const std::string& what, const std::string& text) {
    if (text != last_) {
      write(what, text);
    }
  }

  void write(const std::string& what, const std::string& text) {
    last_ = text;
    char number[16];
    std::snprintf(number, sizeof(number), "%03d", count_++);
    const std::filesystem::path path = std::filesystem::path(folder_) / (network_ + "." + number + "." + what + ".txt");
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    std::ofstream file(path);
    file << text;
    if (!file.flush()) {
      throw CompileError(ErrorCode::kOutput, "the network cannot be written to '" + path.string() + "'", {},
                         "give a folder that can be written to");
    }
  }

 private:
  std::string folder_, network_, last_;
  int count_ = 0;
};

}  // namespace

void optimizeAsEnvironmentSays(network::Network& network, Options options) {
  for (const std::string& name : split(variable("TORCHTRT_DISABLE_PASSES"))) {
    options.disabled.push_back(name);
  }
  const std::string after = variable("TORCHTRT_DUMP_AFTER");
  if (!after.empty()) {
    options.dump_after = after;
  }
  const std::string folder = variable("TORCHTRT_DUMP_NETWORK");
  if (folder.empty()) {
    optimize(network, options);
    return;
  }
  Dump dump(folder, network.name());
  dump.write("converted", network::print(network));
  options.dump = [&](const std::string& pass, const std::string& text) { dump.writeIfChanged(pass, text); };
  optimize(network, options);
  dump.write("optimized", network::print(network));
}

std::unique_ptr<network::Network> optimized(const network::Network& network) {
  plugin::registerBuiltinPlugins();
  network::verify(network);
  std::unique_ptr<network::Network> copy = network.clone();
  optimizeAsEnvironmentSays(*copy);
  return copy;
}

}  // namespace torchtrt::optimization
