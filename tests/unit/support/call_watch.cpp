#include "support/call_watch.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>

#include <dlfcn.h>
#include <execinfo.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TORCHTRT_MALLOC_IS_TAKEN
#endif

namespace {

constexpr size_t kMostEvents = 64;
constexpr size_t kMostFrames = 24;

// The kernel reads this byte at every system call of a watched thread.
std::atomic<char> is_watching = 0;
static_assert(sizeof(is_watching) == 1);

std::atomic<int64_t> allocations, frees, locks, all_system_calls;

struct SystemCall {
  int number;
  void* from;
};
std::array<SystemCall, kMostEvents> system_calls;

std::atomic<bool> has_place;
std::array<void*, kMostFrames> frames;
int frame_count = 0;
thread_local bool inside = false;

// Keeps the stack of the first event.
void keepPlace() {
  if (!inside && !has_place.exchange(true)) {
    inside = true;
    frame_count = backtrace(frames.data(), static_cast<int>(frames.size()));
    inside = false;
  }
}

[[maybe_unused]] void note(std::atomic<int64_t>& counter) {
  if (is_watching.load(std::memory_order_relaxed) != 0 && !inside) {
    counter.fetch_add(1, std::memory_order_relaxed);
    keepPlace();
  }
}

}  // namespace

#ifndef TORCHTRT_MALLOC_IS_TAKEN

#define TORCHTRT_IN_ALL_LIBRARIES extern "C" __attribute__((visibility("default")))

// NOLINTBEGIN(bugprone-reserved-identifier): the C library has these names
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}
// NOLINTEND(bugprone-reserved-identifier)

TORCHTRT_IN_ALL_LIBRARIES void* malloc(size_t bytes) noexcept {
  note(allocations);
  return __libc_malloc(bytes);
}
TORCHTRT_IN_ALL_LIBRARIES void* calloc(size_t count, size_t bytes) noexcept {
  note(allocations);
  return __libc_calloc(count, bytes);
}
TORCHTRT_IN_ALL_LIBRARIES void* realloc(void* memory, size_t bytes) noexcept {
  note(allocations);
  return __libc_realloc(memory, bytes);
}
TORCHTRT_IN_ALL_LIBRARIES void* memalign(size_t alignment, size_t bytes) noexcept {
  note(allocations);
  return __libc_memalign(alignment, bytes);
}
TORCHTRT_IN_ALL_LIBRARIES void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  note(allocations);
  return __libc_memalign(alignment, bytes);
}
TORCHTRT_IN_ALL_LIBRARIES int posix_memalign(void** memory, size_t alignment, size_t bytes) noexcept {
  note(allocations);
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
TORCHTRT_IN_ALL_LIBRARIES void free(void* memory) noexcept {
  if (memory != nullptr) {
    note(frees);
  }
  __libc_free(memory);
}

namespace {

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define TORCHTRT_NOTE_LOCK(name, parameters, arguments)                              \
  TORCHTRT_IN_ALL_LIBRARIES int name parameters noexcept(noexcept(name arguments)) { \
    static auto* const real = next<int parameters>(#name);                           \
    note(locks);                                                                     \
    return real arguments;                                                           \
  }
TORCHTRT_NOTE_LOCK(pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
TORCHTRT_NOTE_LOCK(pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
TORCHTRT_NOTE_LOCK(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
TORCHTRT_NOTE_LOCK(pthread_spin_lock, (pthread_spinlock_t * lock), (lock))
TORCHTRT_NOTE_LOCK(pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t* mutex), (condition, mutex))
TORCHTRT_NOTE_LOCK(sem_wait, (sem_t * semaphore), (semaphore))

#endif

// The two system calls that the watch itself makes. The kernel lets through all that come from between the two labels.
asm(R"(
  .pushsection .text
  .globl torchtrt_let_through_begin, torchtrt_let_through_end, torchtrt_system_call, torchtrt_end_of_signal
torchtrt_let_through_begin:
torchtrt_system_call:
  mov %rdi, %rax
  mov %rsi, %rdi
  mov %rdx, %rsi
  mov %rcx, %rdx
  mov %r8, %r10
  mov %r9, %r8
  mov 8(%rsp), %r9
  syscall
  ret
torchtrt_end_of_signal:
  mov $15, %eax
  syscall
  ud2
torchtrt_let_through_end:
  .popsection
)");
extern "C" {
extern char torchtrt_let_through_begin[], torchtrt_let_through_end[];
long torchtrt_system_call(long number, long a, long b, long c, long d, long e, long f);
void torchtrt_end_of_signal();
}

namespace torchtrt::testing {

namespace {

void onSystemCall(int, siginfo_t* info, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const int number = info->si_syscall;
  if (number == SYS_rt_sigreturn) {  // of another signal: it ends where that one began
    registers[REG_RIP] = reinterpret_cast<greg_t>(&torchtrt_end_of_signal);
    return;
  }
  const auto index = static_cast<size_t>(all_system_calls.fetch_add(1));
  if (index < system_calls.size()) {
    system_calls[index] = {number, info->si_call_addr};
  }
  const bool starts_thread = number == SYS_clone || number == SYS_clone3 || number == SYS_fork || number == SYS_vfork;
  registers[REG_RAX] = starts_thread
                           ? -EAGAIN
                           : torchtrt_system_call(number, registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                                                  registers[REG_R10], registers[REG_R8], registers[REG_R9]);
}

// As the kernel has it: the C library would end signals by a system call of its own.
struct KernelAction {
  void (*handler)(int, siginfo_t*, void*);
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};

[[maybe_unused]] int setHandler() {
  constexpr unsigned long kHasRestorer = 0x04000000;
  const KernelAction action{onSystemCall, SA_SIGINFO | kHasRestorer, torchtrt_end_of_signal, 0};
  return static_cast<int>(syscall(SYS_rt_sigaction, SIGSYS, &action, nullptr, sizeof(action.mask)));
}

int watchThisThread() {
  return prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, torchtrt_let_through_begin,
               torchtrt_let_through_end - torchtrt_let_through_begin, &is_watching);
}

std::string libraryOf(void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
    return "unknown code";
  }
  return std::string(info.dli_fname).substr(std::string(info.dli_fname).rfind('/') + 1);
}

std::string nameOf(int number) {
  switch (number) {
    case SYS_futex:
      return "futex";
    case SYS_sched_yield:
      return "sched_yield";
    case SYS_write:
      return "write";
    case SYS_mmap:
      return "mmap";
    case SYS_munmap:
      return "munmap";
    case SYS_brk:
      return "brk";
    case SYS_madvise:
      return "madvise";
    case SYS_clone:
    case SYS_clone3:
      return "clone";
    case SYS_sched_getaffinity:
      return "sched_getaffinity";
    case SYS_getppid:
      return "getppid";
    default:
      return "system call " + std::to_string(number);
  }
}

bool isOfPool(const SystemCall& call) {
  return (call.number == SYS_futex || call.number == SYS_sched_yield) &&
         libraryOf(call.from).find("libgomp") != std::string::npos;
}

}  // namespace

std::string Observed::text() const {
  std::string text = std::to_string(allocations) + " allocations, " + std::to_string(frees) + " frees, " +
                     std::to_string(locks) + " locks, " + std::to_string(system_calls.size()) + " system calls";
  for (const std::string& call : system_calls) {
    text += ", " + call;
  }
  for (const std::string& place : places) {
    text += "\n  " + place;
  }
  return text;
}

std::optional<std::string> refuseToWatch() {
#ifdef TORCHTRT_MALLOC_IS_TAKEN
  return "a sanitizer has malloc and the locks of this program";
#else
  static const int error = setHandler() == 0 && watchThisThread() == 0 ? 0 : errno;
  if (error != 0) {
    return std::string("the system lets nobody watch system calls (syscall user dispatch, Linux 5.11): ") +
           std::strerror(error);
  }
  return std::nullopt;
#endif
}

Observed watchCall([[maybe_unused]] int threads, const std::function<void()>& body) {
#ifndef TORCHTRT_NO_OPENMP
#pragma omp parallel num_threads(threads)
#endif
  watchThisThread();
  std::array<void*, 1> unused{};
  backtrace(unused.data(), 1);  // loads the library that it needs
  allocations = frees = locks = all_system_calls = 0;
  has_place = false;
  frame_count = 0;
  is_watching = 1;
  body();
  is_watching = 0;
  Observed observed{allocations, frees, locks, {}, 0, {}};
  const auto seen = std::min(static_cast<size_t>(all_system_calls), system_calls.size());
  for (const SystemCall& call : std::span(system_calls).first(seen)) {
    if (isOfPool(call)) {
      ++observed.pool_calls;
    } else {
      observed.system_calls.push_back(nameOf(call.number) + " in " + libraryOf(call.from));
    }
  }
  char** const symbols = backtrace_symbols(frames.data(), frame_count);
  for (int i = 0; symbols != nullptr && i < frame_count; ++i) {
    observed.places.emplace_back(symbols[i]);
  }
  std::free(symbols);
  return observed;
}

}  // namespace torchtrt::testing
