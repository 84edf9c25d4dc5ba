// Watches a call for all that a call in real time must not do: allocations, locks and system calls, of all its threads.
// A program that uses this has its malloc and its locks replaced by ones that count. System calls are seen by Linux's
// "syscall user dispatch", which needs no rights and costs nothing while nobody watches. A page fault is not seen.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace torchtrt::testing {

struct Observed {
  int64_t allocations = 0;  // by malloc and its relatives, of which new is one
  int64_t frees = 0;
  int64_t locks = 0;                      // waits for a mutex, a lock for readers, a condition or a semaphore
  std::vector<std::string> system_calls;  // other than those of the thread pool: "write in libc.so.6"
  int64_t pool_calls = 0;                 // futex and sched_yield of the OpenMP library
  std::vector<std::string> places;        // of the first of these, innermost first: "malloc" ...

  bool isQuiet() const {
    return allocations == 0 && frees == 0 && locks == 0 && system_calls.empty();
  }
  std::string text() const;
};

// Returns why nothing can be watched here: a sanitizer has malloc, or the system refuses. Nothing where all can.
std::optional<std::string> refuseToWatch();

// Runs the body, and returns all that it did on this thread and on `threads` - 1 others of this thread's OpenMP team.
// Only one watch runs at a time. A thread that the body starts is not started: the system seems to have no room for it.
Observed watchCall(int threads, const std::function<void()>& body);

}  // namespace torchtrt::testing
