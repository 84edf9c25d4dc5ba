#include "runtime/device_info.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <sstream>
#include <string_view>

#include "base/logging.h"
#include "runtime/torch_device.h"
#include "torchtrt/engine.h"
#include "torchtrt/error.h"

namespace torchtrt::runtime {

namespace {

constexpr size_t kTokens = 5;
constexpr size_t kIdToken = 0;
constexpr size_t kTypeToken = 3;
constexpr const char* kCpuInfo = "0%0%0%cpu%generic";
constexpr int64_t kPlacedRank = 1;
constexpr int64_t kUnplacedRank = 2;

thread_local std::optional<at::Device> loading_for;

std::vector<std::string> tokensOf(const std::string& text) {
  std::vector<std::string> tokens;
  std::istringstream stream(text);
  for (std::string token; std::getline(stream, token, '%');) {
    tokens.push_back(token);
  }
  return tokens;
}

// Returns the device that the string names.
at::Device deviceOf(const std::string& info) {
  const std::string id = tokensOf(info)[kIdToken];
  int index = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), index);
  if (error != std::errc() || end != id.data() + id.size() || index < 0 || index > 127) {
    throw EngineError(ErrorCode::kPlanCorrupt, "the engine's device information names no device, got \"" + info + "\"",
                      {}, "save the module again, or compile it anew");
  }
  return {at::kCUDA, static_cast<c10::DeviceIndex>(index)};
}

void warnOfCpu(const std::string& info, const std::string& why) {
  static std::atomic<bool> was_told = false;
  if (!was_told.exchange(true)) {
    TORCHTRT_LOG(kWARNING, "an engine that was compiled for a GPU (" << tokensOf(info).back() << ") runs on the CPU: "
                                                                     << why << "; so do later ones, without this line");
  }
}

// "sm_90" is 9.0, "sm_103" is 10.3. A letter may stand behind ("sm_90a").
std::optional<std::string> capabilityOf(std::string_view architecture) {
  constexpr std::string_view kPrefix = "sm_";
  if (architecture.substr(0, kPrefix.size()) != kPrefix) {
    return std::nullopt;
  }
  std::string digits(architecture.substr(kPrefix.size()));
  if (!digits.empty() && (digits.back() == 'a' || digits.back() == 'f')) {
    digits.pop_back();
  }
  const bool is_number = std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number || digits.size() < 2 || digits.size() > 3) {
    return std::nullopt;
  }
  return digits.substr(0, digits.size() - 1) + "%" + digits.back();
}

}  // namespace

std::string deviceInfoOf(const at::Device& device) {
  if (device.is_cpu()) {
    return kCpuInfo;
  }
  const engine::DeviceDescription description = engine::describeDevice(device.str());
  std::string name = description.name;
  std::replace(name.begin(), name.end(), '%', ' ');
  return std::to_string(device.index()) + "%" + capabilityOf(description.architecture).value_or("0%0") + "%cuda%" +
         name;
}

std::string deviceInfoOf(int64_t gpu, const std::string& architecture) {
  const auto capability = capabilityOf(architecture);
  return capability ? std::to_string(gpu) + "%" + *capability + "%cuda%" + architecture : "";
}

void checkDeviceInfo(const std::string& text) {
  const std::vector<std::string> tokens = tokensOf(text);
  if (tokens.size() != kTokens) {
    throw EngineError(ErrorCode::kPlanCorrupt,
                      "the engine's device information is not \"id%major%minor%type%name\", got \"" + text + "\"", {},
                      "save the module again, or compile it anew");
  }
  if (tokens[kTypeToken] != "cpu" && tokens[kTypeToken] != "cuda") {
    throw EngineError(ErrorCode::kInputDevice,
                      "the engine was built for the device " + tokens[kTypeToken] + " (" + tokens.back() +
                          "), and this runtime runs engines on the cpu and on cuda",
                      {}, "compile the module with Device(\"cpu\") or Device(\"cuda:0\")");
  }
}

bool isForGpu(const std::string& info) {
  return tokensOf(info)[kTypeToken] == "cuda";
}

at::Tensor markerOf(const Placement& placement) {
  const bool is_placed = !placement.device.is_cpu();
  const int64_t rank = is_placed ? kPlacedRank : kUnplacedRank;
  return at::empty(std::vector<int64_t>(static_cast<size_t>(rank), 0),
                   at::TensorOptions().dtype(at::kByte).device(placement.device));
}

LoadingFor::LoadingFor(const std::optional<at::Device>& device) : before_(loading_for) {
  loading_for = device;
}

LoadingFor::~LoadingFor() {
  loading_for = before_;
}

void loadFor(const std::string& device) {
  loading_for = device.empty() ? std::nullopt : std::optional(at::Device(device));
}

Placement placementOf(const std::string& info, const std::optional<at::Tensor>& marker,
                      const std::vector<at::Tensor>& weights) {
  const auto isElsewhere = [](const at::Tensor& tensor) {
    return tensor.defined() && !tensor.is_cpu() && !tensor.is_meta();
  };
  if (marker && isElsewhere(*marker)) {
    return {marker->device(), ""};
  }
  const auto found = std::find_if(weights.begin(), weights.end(), isElsewhere);
  if (found != weights.end()) {
    return {found->device(), ""};
  }
  if (!isForGpu(info) || (marker && marker->dim() == kPlacedRank)) {
    return {at::kCPU, ""};
  }
  if (loading_for) {
    return {*loading_for, ""};  // and there it stays, as what map_location moves does
  }
  const at::Device device = deviceOf(info);
  std::string why;
  if (isThere(at::Device(at::kCUDA), why)) {
    return {device, ""};
  }
  warnOfCpu(info, why);
  return {at::kCPU, info};
}

}  // namespace torchtrt::runtime
