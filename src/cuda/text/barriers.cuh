// Barriers in shared memory. A phase of one ends when as many threads as it was made for have arrived, and when all bytes that
// they expect have been copied. The first phase is even.

#ifdef __CUDACC_RTC__

struct alignas(8) Barrier {
  unsigned long long word;
};

__device__ inline unsigned addressOf(const Barrier* barrier) { return (unsigned)__cvta_generic_to_shared(barrier); }
__device__ inline void makeBarrier(Barrier* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(addressOf(barrier)), "r"(arrivals) : "memory");
}
// Behind it, copies see the barriers that this thread made.
__device__ inline void showBarriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ inline void arrive(Barrier* barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(addressOf(barrier)) : "memory");
}
// Arrives, and lets the phase wait for so many bytes.
__device__ inline void arriveExpecting(Barrier* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(addressOf(barrier)), "r"(bytes) : "memory");
}
// Waits for the end of the newest phase of that parity. A phase before the first one is odd, and has ended.
__device__ inline void waitForPhase(Barrier* barrier, int parity) {
  asm volatile(
      "{\n.reg .pred is_over;\nagain%=:\n"
      "mbarrier.try_wait.parity.shared.b64 is_over, [%0], %1;\n@!is_over bra again%=;\n}" ::"r"(addressOf(barrier)),
      "r"(parity)
      : "memory");
}
// Waits for the threads of a block that call it, which are so many.
template <int kThreads>
__device__ void waitForThreads() {
  asm volatile("bar.sync 1, %0;" ::"n"(kThreads) : "memory");
}

#else

struct alignas(8) Barrier {
  unsigned char arrivals, missing, phase;
  int bytes;
};

inline void endPhaseIfComplete(Barrier* barrier) {
  if (barrier->missing == 0 && barrier->bytes == 0) {
    barrier->phase ^= 1;
    barrier->missing = barrier->arrivals;
  }
}
inline void makeBarrier(Barrier* barrier, int arrivals) {
  barrier->arrivals = barrier->missing = (unsigned char)arrivals;
  barrier->phase = 0;
  barrier->bytes = 0;
}
inline void showBarriers() {}
inline void arriveExpecting(Barrier* barrier, int bytes) {
  barrier->bytes += bytes;
  --barrier->missing;
  endPhaseIfComplete(barrier);
}
inline void arrive(Barrier* barrier) { arriveExpecting(barrier, 0); }
inline void countCopied(Barrier* barrier, int bytes) {
  barrier->bytes -= bytes;
  endPhaseIfComplete(barrier);
}
// Lets other threads of the block run. A wait that nobody ends becomes a failure.
inline void waitAgain(long long& turns) {
  constexpr long long kMost = 100000000;
  if (++turns > kMost) {
    __builtin_trap();
  }
  emulated_barrier();
}
inline void waitForPhase(Barrier* barrier, int parity) {
  for (long long turns = 0; barrier->phase == parity;) {
    waitAgain(turns);
  }
}
template <int kThreads>
void waitForThreads() {
  static int arrived;
  static unsigned generation;
  const unsigned mine = generation;
  if (++arrived == kThreads) {
    arrived = 0;
    ++generation;
  }
  for (long long turns = 0; generation == mine;) {
    waitAgain(turns);
  }
}

#endif
