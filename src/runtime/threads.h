// Counts the threads that this process may run at all. callThreads() of torchtrt/runtime.h adds what ATen says about
// the call at hand.
#pragma once

#include <functional>
#include <string>

#include "torchtrt/export.h"

namespace torchtrt::runtime {

// CPUs in the calling thread's affinity mask, at least 1.
int affinityThreads();
// The smallest CPU quota on the way from the process's cgroup up to the root, rounded up; 0 for none. Versions 1 and 2.
// `root` stands in for / in tests.
int quotaThreads(const std::string& root);
// Makes callThreads() 1 from now on, on a thread that came out of a fork.
void watchForks();
// True if PyTorch's kernels, which take the thread that calls them, would wait on this thread for a team that a fork
// lost.
TORCHTRT_API bool waitsForLostTeam();
// True on a thread that came out of a fork: its OpenMP team stayed in the parent.
bool teamIsLost();
// body(threads) for a call from this thread: on this thread with callThreads(), or, on a thread that came out of a
// fork, on another one that stands in for it and has a team, with this thread's state of ATen's.
void onTeam(const std::function<void(int threads)>& body);

}  // namespace torchtrt::runtime
