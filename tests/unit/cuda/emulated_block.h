// A block of threads of the emulated GPU: fibers of one thread of the CPU.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

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
  bool has_barrier;  // any function of its text waits for the others of its block
  long long* waits;  // the threads that waited for their inputs; null if its text does not wait
};

// The threads of a block, one after the other from barrier to barrier.
class Block {
 public:
  Block(const Function& function, void** arguments, unsigned threads)
      : function_(function), arguments_(arguments), is_done_(threads) {}

  void run() {
    current() = this;
    for (size_t left = is_done_.size(); left > 0;) {
      for (running_ = 0; running_ < is_done_.size(); ++running_) {
        if (!is_done_[running_]) {
          function_.thread->x = static_cast<unsigned>(running_);
          enterFiber();
          left -= is_done_[running_] ? 1 : 0;
        }
      }
    }
  }

  // Leaves the running thread for the scheduler until its next turn.
  static void barrier() {
    if (_setjmp(fibers()[current()->running_].place) == 0) {
      _longjmp(scheduler(), 1);
    }
  }

 private:
  static constexpr size_t kStack = size_t{64} << 10;
  // A stack with its own place in the code. It outlives the blocks, which run one after the other: making a context
  // is a system call, jumping to a place is not.
  struct Fiber {
    jmp_buf place;
    std::unique_ptr<char[]> stack;
  };

  // Returns at the thread's next barrier or at its end.
  void enterFiber() {
    if (running_ == fibers().size()) {
      fibers().emplace_back().stack.reset(new char[kStack]);
      ucontext_t context;
      getcontext(&context);
      context.uc_stack.ss_sp = fibers()[running_].stack.get();
      context.uc_stack.ss_size = kStack;
      makecontext(&context, runThreads, 0);
      if (_setjmp(scheduler()) == 0) {
        setcontext(&context);
      }
    } else if (_setjmp(scheduler()) == 0) {
      _longjmp(fibers()[running_].place, 1);
    }
  }
  // The body of a fiber: one thread of every block that is large enough to have it.
  static void runThreads() {
    for (;;) {
      current()->function_.call(current()->arguments_);
      current()->is_done_[current()->running_] = true;
      barrier();
    }
  }
  static std::deque<Fiber>& fibers() {
    static std::deque<Fiber> fibers;
    return fibers;
  }
  static jmp_buf& scheduler() {
    static jmp_buf place;
    return place;
  }
  static Block*& current() {
    static Block* block = nullptr;
    return block;
  }

  const Function& function_;
  void** arguments_;
  std::vector<char> is_done_;
  size_t running_ = 0;
};

}  // namespace torchtrt::cuda::testing
