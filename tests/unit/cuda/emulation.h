// A GPU for tests on machines without one: the driver's functions work on the host's memory, and the compiler of device
// code is the host's. Threads of a block take turns at barriers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace torchtrt::cuda::testing {

// True unless TORCHTRT_TEST_DEVICE names a device: then tests run there.
bool isEmulated();
// Puts the emulation in the place of the driver and of NVIDIA's libraries if isEmulated().
void installEmulation();

// The emulation's compiler (cuda/compile/program.h).
std::string compileByHost(const std::string& text, const std::string& architecture);

// While one lives, the emulated GPU finds no compiler, and no program that was loaded before.
class WithoutCompiler {
 public:
  WithoutCompiler();
  ~WithoutCompiler();
  WithoutCompiler(const WithoutCompiler&) = delete;
  WithoutCompiler& operator=(const WithoutCompiler&) = delete;
};

// The texts that the emulation has compiled so far.
std::vector<std::string> compiledTexts();

// The number of pieces of the emulated GPU's memory in use.
size_t livingMemory();
// Tells a checker of leaks that the memory in use is the driver's: calls that failed left it there.
void keepLivingMemory();
// The number of graphs and executables of graphs that the emulation holds.
size_t livingGraphs();

}  // namespace torchtrt::cuda::testing
