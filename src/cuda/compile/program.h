// Device code: text that NVRTC compiles for a GPU's architecture when it is first wanted. Programs are kept for the
// life of the process, and their machine code in a folder on disk. A plan may bring machine code along.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/device/cuda_device.h"
#include "device/machine_code.h"

namespace torchtrt::cuda {

// The text of an embedded file of this folder, "pointwise/map.cuh". Throws InternalError for another name.
std::string_view embeddedText(std::string_view name);

// Lines "#define NAME VALUE", then the embedded files in order.
class Source {
 public:
  Source& define(const std::string& name, const std::string& value);
  Source& define(const std::string& name, int64_t value) {
    return define(name, std::to_string(value));
  }
  Source& include(std::string_view file);
  Source& add(std::string_view text) {
    text_ += text;
    return *this;
  }
  Source& append(const Source& other) {
    text_ += other.text_;
    waits_for_inputs_ = waits_for_inputs_ || other.waits_for_inputs_;
    return *this;
  }
  const std::string& text() const {
    return text_;
  }
  // True if its functions wait for the kernels in front themselves (text/inputs.cuh).
  bool waitsForInputs() const {
    return waits_for_inputs_;
  }

 private:
  std::string text_;
  bool waits_for_inputs_ = false;
};

// Turns text into what the driver loads, for an architecture ("sm_90"). Throws InternalError with the compiler's words
// if the text is wrong, EngineError if there is no compiler. Tests put another in its place, which forgets programs.
inline constexpr const char* kCompilerOptions = "--std=c++17";  // beside the architecture
using Compiler = std::string (*)(const std::string& text, const std::string& architecture);
std::string compileByNvrtc(const std::string& text, const std::string& architecture);
void useCompiler(Compiler compiler);

// The architecture that a text is compiled for: the given one, or its variant that newer GPUs do not run ("sm_90a") if
// the text asks for that.
std::string targetOf(const std::string& text, const std::string& architecture);

// Compiles a text, or finds what it was compiled to in this process.
device::MachineCode compiledCode(const std::string& text, const std::string& architecture);
// Programs that are loaded while the result lives find their code among this before they look on disk and compile.
std::shared_ptr<const void> offerCode(std::vector<device::MachineCode> codes);

// A function of a program on a device.
class DeviceFunction {
 public:
  // Begins to find or compile the program, and to load it, unless that was done. Several programs are compiled at once.
  // For a StandIn it notes the program. `shared_bytes`: dynamic shared memory of a launch.
  DeviceFunction(const CudaDevice& device, const Source& source, const char* function, unsigned shared_bytes = 0);
  // Waits until the program is loaded. Null for a StandIn. Throws as the compiler and the driver do; the next kernel of
  // that text tries again.
  FunctionHandle get() const;

 private:
  const CudaDevice& device_;
  std::string function_;
  unsigned shared_bytes_;
  std::shared_future<ModuleHandle> module_;  // none for a StandIn
};

}  // namespace torchtrt::cuda
