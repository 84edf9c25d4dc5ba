// The device string of a serialized engine: "id%major%minor%type%name". CPU plans run on any CPU: packing happens at
// load.
#pragma once

#include <string>

namespace torchtrt::runtime {

std::string cpuDeviceInfo();
// Throws EngineError (kPlanCorrupt for a malformed string, kInputDevice for a device that is not here).
void checkDeviceInfo(const std::string& text);

}  // namespace torchtrt::runtime
