// The device string of a serialized engine, "id%major%minor%type%name", and where an engine runs that comes with one.
// Plans fit any device: packing happens at load.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <torch/script.h>

#include "torchtrt/export.h"

namespace torchtrt::runtime {

// The device of an engine, and its description in the engine's state.
struct Placement {
  at::Device device = at::kCPU;
  std::string info;  // empty: as the device has it
};

// Returns the description, for an engine's state, of a device that is here.
TORCHTRT_API std::string deviceInfoOf(const at::Device& device);
// Returns the description of a GPU that need not be here: "sm_90", "sm_100". Empty if the text names no architecture.
TORCHTRT_API std::string deviceInfoOf(int64_t gpu, const std::string& architecture);
// Throws EngineError (kPlanCorrupt for a malformed string, kInputDevice for a kind of device that no engine runs on).
void checkDeviceInfo(const std::string& text);
// True if an engine was made for a GPU.
TORCHTRT_API bool isForGpu(const std::string& info);

// A tensor without elements that says in a file where its engine ran, as torch.jit.load(map_location=...) moves it.
// An engine that was made for a GPU and runs elsewhere, since its machine has none, is not placed yet.
at::Tensor markerOf(const Placement& placement);

// While one lives, this thread loads for a device that its caller named: engines that are not placed yet go there.
class TORCHTRT_API LoadingFor {
 public:
  explicit LoadingFor(const std::optional<at::Device>& device);
  ~LoadingFor();
  LoadingFor(const LoadingFor&) = delete;
  LoadingFor& operator=(const LoadingFor&) = delete;

 private:
  std::optional<at::Device> before_;
};
// The same until the next call, for callers that are not C++: "" ends it.
void loadFor(const std::string& device);

// Returns the place of a file's engine: that of its marker, or of its weights if they came elsewhere than to the CPU.
// Otherwise it is the device that its string names. If that is not here, the CPU takes the engine, with a warning.
Placement placementOf(const std::string& info, const std::optional<at::Tensor>& marker,
                      const std::vector<at::Tensor>& weights);

}  // namespace torchtrt::runtime
