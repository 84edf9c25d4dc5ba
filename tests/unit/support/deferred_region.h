// The addresses of a DeferredDevice. Nobody can read there until a page is opened. An attempt ends the process with a
// line that names the reader.
#pragma once

#include <cstddef>
#include <string>

namespace torchtrt::testing {

inline constexpr size_t kRegionBytes = size_t{64} << 30;  // of addresses; memory is taken as it is used

// Ends the process.
[[noreturn]] void fail(const std::string& message);

std::byte* takeRegion();
void giveRegionBack(std::byte* region);

// The calling thread runs work of a device from now on. Threads that help it are taken for the host's.
void worksForQueue();

}  // namespace torchtrt::testing
