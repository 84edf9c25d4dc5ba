// CUDA graphs of the emulated GPU: what is given to a captured stream becomes nodes, which run when the graph is
// launched.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "cuda/driver/driver.h"

namespace torchtrt::cuda::testing {

// A launch whose arguments are copied, since those of a node outlive the call that gave them.
struct EmulatedLaunch {
  FunctionHandle function = nullptr;
  unsigned blocks = 1, threads = 1;
  std::vector<std::vector<std::byte>> arguments;
};

// Runs launches for the emulation, and tells the bytes of each argument of a function.
struct LaunchFunctions {
  Result (*run)(FunctionHandle function, unsigned blocks, unsigned threads, void** arguments);
  std::vector<size_t> (*sizesOf)(FunctionHandle function);
};

// Puts the functions of graphs into the table.
void addGraphs(Driver& table, LaunchFunctions functions);

bool isCaptured(StreamHandle stream);
// True while a stream is captured in a mode that forbids allocations, unless the thread says that it knows.
bool isAnyCapturedStrictly();
// Adds a node to what the stream captures.
void captureLaunch(StreamHandle stream, FunctionHandle function, unsigned blocks, unsigned threads, void** arguments);
void captureWork(StreamHandle stream, std::function<void()> work);  // of another type
void captureMemset(StreamHandle stream, DevicePointer to, unsigned char value, size_t bytes);
// Work that a library would do by a kernel of its own: its node's parameters can be read and set.
void captureKernel(StreamHandle stream, std::function<void()> work);

}  // namespace torchtrt::cuda::testing
