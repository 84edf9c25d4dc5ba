// The threads of a block of the emulated GPU, or of a cluster of blocks: fibers of one thread of the CPU.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

namespace torchtrt::cuda::testing {

struct Index {
  unsigned x, y, z;
};

struct Function {
  void (*call)(void**);
  int (*sizes)(int*);  // of the arguments
  Index *thread, *block, *block_size, *grid_size;
  void (**barrier)();
  void (**cluster_barrier)();  // null without clusters
  int* cluster;                // the blocks of a cluster; null for one
  bool has_barrier;            // any function of its text waits for the others of its block
  long long* waits;            // the threads that waited for their inputs; null if its text does not wait
};

// The threads of a cluster, one after the other from barrier to barrier. A block runs until all of its threads are at a
// barrier of the cluster or at their end; then the next block does.
class Cluster {
 public:
  Cluster(const Function& function, void** arguments, unsigned threads)
      : function_(function),
        arguments_(arguments),
        threads_(threads),
        states_(threads * static_cast<unsigned>(blocksOf(function)), State::kReady) {}

  static int blocksOf(const Function& function) {
    return function.cluster == nullptr ? 1 : *function.cluster;
  }
  // `first`: the first block of the cluster.
  void run(unsigned first) {
    current() = this;
    const auto has = [&](State state) { return std::find(states_.begin(), states_.end(), state) != states_.end(); };
    while (has(State::kReady)) {
      for (size_t begin = 0; begin < states_.size(); begin += threads_) {
        *function_.block = {first + static_cast<unsigned>(begin / threads_), 0, 0};
        runBlock(begin);
      }
      std::replace(states_.begin(), states_.end(), State::kWaits, State::kReady);
    }
  }

  // Leaves the running thread for the scheduler until all of its cluster are here.
  static void clusterBarrier() {
    current()->states_[current()->running_] = State::kWaits;
    barrier();
  }
  // Leaves the running thread for the scheduler until its next turn. The address sanitizer would reset the shadow of
  // the stack before every jump, which takes most of the time, and does not know the stacks of fibers.
  [[gnu::no_sanitize("address")]] static void barrier() {
    if (__builtin_setjmp(fibers()[current()->running_].place) == 0) {
      jump(scheduler());
    }
  }

 private:
  enum class State : char { kReady, kWaits, kDone };  // kWaits: for the other blocks

  static constexpr size_t kStack = size_t{64} << 10;
  // For the compiler's own jumps: frame, place in the code, stack, and two words that some targets need.
  using Place = void* [5];
  // A stack with its own place in the code. It outlives the blocks, which run one after the other: making a context
  // is a system call, jumping to a place is not.
  struct Fiber {
    Place place;
    std::unique_ptr<char[]> stack;
  };

  void runBlock(size_t begin) {
    for (bool has_run = true; has_run;) {
      has_run = false;
      for (running_ = begin; running_ < begin + threads_; ++running_) {
        if (states_[running_] == State::kReady) {
          function_.thread->x = static_cast<unsigned>(running_ - begin);
          enterFiber();
          has_run = true;
        }
      }
    }
  }
  // Returns at the thread's next barrier or at its end.
  [[gnu::no_sanitize("address")]] void enterFiber() {
    if (running_ == fibers().size()) {
      fibers().emplace_back().stack.reset(new char[kStack]);
      ucontext_t context;
      getcontext(&context);
      context.uc_stack.ss_sp = fibers()[running_].stack.get();
      context.uc_stack.ss_size = kStack;
      makecontext(&context, runThreads, 0);
      if (__builtin_setjmp(scheduler()) == 0) {
        setcontext(&context);
      }
    } else if (__builtin_setjmp(scheduler()) == 0) {
      jump(fibers()[running_].place);
    }
  }
  // The compiler wants the jump outside the functions that it goes to.
  [[gnu::noinline, gnu::no_sanitize("address")]] static void jump(Place& place) {
    __builtin_longjmp(place, 1);
  }
  // The body of a fiber: one thread of every cluster that is large enough to have it.
  static void runThreads() {
    for (;;) {
      current()->function_.call(current()->arguments_);
      current()->states_[current()->running_] = State::kDone;
      barrier();
    }
  }
  static std::deque<Fiber>& fibers() {
    static std::deque<Fiber> fibers;
    return fibers;
  }
  static Place& scheduler() {
    static Place place;
    return place;
  }
  static Cluster*& current() {
    static Cluster* cluster = nullptr;
    return cluster;
  }

  const Function& function_;
  void** arguments_;
  size_t threads_;  // of a block
  std::vector<State> states_;
  size_t running_ = 0;
};

}  // namespace torchtrt::cuda::testing
