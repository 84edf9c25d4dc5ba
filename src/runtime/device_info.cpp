#include "runtime/device_info.h"

#include <sstream>
#include <vector>

#include "torchtrt/error.h"

namespace torchtrt::runtime {

namespace {

constexpr size_t kTokens = 5;
constexpr size_t kTypeToken = 3;

}  // namespace

std::string cpuDeviceInfo() {
  return "0%0%0%cpu%generic";
}

void checkDeviceInfo(const std::string& text) {
  std::vector<std::string> tokens;
  std::istringstream stream(text);
  for (std::string token; std::getline(stream, token, '%');) {
    tokens.push_back(token);
  }
  if (tokens.size() != kTokens) {
    throw EngineError(ErrorCode::kPlanCorrupt,
                      "the engine's device information is not \"id%major%minor%type%name\", got \"" + text + "\"", {},
                      "save the module again, or compile it anew");
  }
  if (tokens[kTypeToken] != "cpu") {
    throw EngineError(ErrorCode::kInputDevice,
                      "the engine was built for the device " + tokens[kTypeToken] + " (" + tokens.back() +
                          "), and this runtime runs engines on the cpu",
                      {}, "compile the module with Device(\"cpu\")");
  }
}

}  // namespace torchtrt::runtime
