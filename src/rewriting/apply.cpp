// Users' rewriters on a network whose interface is settled.
#include "torchtrt/net_guard.h"
#include "torchtrt/rewriting.h"

namespace torchtrt::rewriting {

namespace {

// Inputs and outputs as a caller sees them, a line each.
std::string interfaceOf(const Network& network) {
  std::string text;
  const auto add = [&](const char* role, const std::string& name, const Tensor& tensor) {
    text += std::string(text.empty() ? "" : ", ") + role + " '" + name + "' " + toString(tensor.getType()) +
            tensor.getDimensions().toString();
  };
  for (int i = 0; i < network.getNbInputs(); ++i) {
    add("input", network.getInput(i)->getName(), *network.getInput(i));
  }
  for (int i = 0; i < network.getNbOutputs(); ++i) {
    add("output", network.getOutputName(i), *network.getOutput(i));
  }
  return text;
}

}  // namespace

NetworkRewriter asNetworkRewriter(std::shared_ptr<RewritePatternManager> manager, Arguments args) {
  return [manager = std::move(manager), args = std::move(args)](Network& network) { manager->rewrite(network, args); };
}

void applyRewriters(std::unique_ptr<Network>& network, const std::vector<NetworkRewriter>& rewriters) {
  for (size_t i = 0; i < rewriters.size(); ++i) {
    const std::string what = "rewriter " + std::to_string(i) + " of network '" + network->name() + "'";
    std::unique_ptr<Network> copy = network->clone();
    try {
      const NetGuard guard(*copy);
      rewriters[i](*copy);
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      throw CompileError(ErrorCode::kConversionFailed, what + " failed: " + error.what());
    }
    try {
      network::verify(*copy);
    } catch (const Error& error) {
      throw CompileError(error.code(), what + " left it invalid: " + error.message(), error.location(), error.advice());
    }
    const std::string expected = interfaceOf(*network), got = interfaceOf(*copy);
    if (expected != got) {
      throw CompileError(ErrorCode::kInvalidNetwork,
                         what + " changed its interface: expected " + expected + ", got " + got, {},
                         "what runs around the engine relies on its inputs and outputs: keep their names, dtypes and "
                         "shapes");
    }
    network = std::move(copy);
  }
}

}  // namespace torchtrt::rewriting
