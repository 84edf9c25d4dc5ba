// A backend is all kernels of one kind of device, and what the engine has to know of such devices beside them. The
// CPU's is src/cpu/backend.cpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "kernels/kernel.h"
#include "kernels/limits.h"
#include "torchtrt/export.h"

namespace torchtrt::kernels {

// A problem in another form, which an implementation may take when it refuses the first: float32 in place of float16.
class TORCHTRT_API OtherForm {
 public:
  virtual ~OtherForm() = default;
  // A kernel for the problem as it was, or the refusal, as createByRule() gives it. Used up by the first kernel.
  virtual CreateResult create(const Implementation& implementation) = 0;
};

struct Backend {
  const char* name;  // Device::kind()
  const std::vector<Family>& (*families)();
  // Returns the number of devices that there are now. None is no error; `why_none` then says what is missing.
  int (*devices)(std::string& why_none);
  const device::Device& (*device)(int index);  // below devices()
  // The machine that a measurement of kernels holds for, in one line: device, library versions, threads.
  std::string (*machineKey)(const device::Device& device, int threads);
  Limits (*measureLimits)(const device::Device& device, int threads);
  // Another form of a problem, for all implementations but the last of a family; null where there is none.
  std::unique_ptr<OtherForm> (*otherForm)(const Problem& problem);
  // A stand-in for a device of that architecture (Properties::isa), which need not be here: engines are loaded on it,
  // and none runs. It is a device::CodeMaker. Null where machine code is part of the library.
  std::unique_ptr<device::Device> (*standIn)(const std::string& architecture) = nullptr;
  // Lists what this machine lacks for engines of the backend: a line for each part, with what that means. Null:
  // nothing.
  std::vector<std::string> (*missing)() = nullptr;
};

// Backends make themselves known when their library is loaded: a static object of theirs calls this.
class TORCHTRT_API BackendRegistration {
 public:
  explicit BackendRegistration(const Backend& backend);
};

// The backend of that name, "cpu" or "cuda". Opens its library, libtorchtrt_<name> beside the engine's, where it is not
// loaded yet. Null, with the reason, where there is none.
TORCHTRT_API const Backend* findBackend(std::string_view name, std::string& reason);
// Lists what this machine lacks for engines on devices of that kind, a line for each part.
TORCHTRT_API std::vector<std::string> missingParts(std::string_view name);
// Returns the backend of a device; null = the CPU.
TORCHTRT_API const Backend& backendOf(const device::Device* device);
// The backend's family of a layer kind; null if it has none.
TORCHTRT_API const Family* findFamily(std::string_view name, const Backend& backend);

// The device that a text names: "cpu", "cuda" (the first) or "cuda:1". Throws EngineError(kInputDevice) that says what
// is missing.
TORCHTRT_API const device::Device& deviceNamed(const std::string& text);
// "cpu", "cuda:1": what deviceNamed() takes.
TORCHTRT_API std::string nameOf(const device::Device& device);

}  // namespace torchtrt::kernels
