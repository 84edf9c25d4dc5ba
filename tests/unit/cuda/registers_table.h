// The table of registers.txt: layers and plans, and what the kernels of their programs need on each architecture.
#pragma once

#include <string>
#include <vector>

namespace torchtrt::cuda::testing {

inline constexpr const char* kArchitectures[] = {"sm_80", "sm_90", "sm_100", "sm_120"};

// The lines of a table that name programs: layers as logs print them, files of plans, device code that stands alone.
std::vector<std::string> entriesOf(const std::string& table);
// The release of NVRTC that the numbers of a table are of.
std::string releaseOf(const std::string& table);

// The texts of device code that an entry takes on a GPU of that architecture, sorted. Puts a compiler of its own in the
// place of the emulation's meanwhile.
std::vector<std::string> programsOf(const std::string& entry, const std::string& architecture);

// The comments and entries of a table, with what NVRTC says of their kernels now.
std::string renewed(const std::string& table);

// The kernels in which tables of the same entries differ: where they stand, what was expected and what came.
std::vector<std::string> differences(const std::string& expected, const std::string& got);

}  // namespace torchtrt::cuda::testing
