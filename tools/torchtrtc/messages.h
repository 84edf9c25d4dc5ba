// Extracts from libtorch's error messages, without their back traces, the reason and the missing library. Text only.
#pragma once

#include <string>

namespace torchtrtc {

// The line that says what happened; where a torchtrt error came through a TorchScript call, its code, text and advice.
std::string reasonOf(const std::string& libtorch_message);

// The library that defines the operator or class which libtorch could not find; "" when the message names none.
std::string missingLibrary(const std::string& libtorch_message);

}  // namespace torchtrtc
