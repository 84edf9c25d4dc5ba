// Prepares a loaded compiled module for a caller that cannot wait: at its first call, or, in real time, at any call. A
// module fresh from compile() is prepared for its first call.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "torchtrt/export.h"

namespace torch::jit {
struct Module;
}

namespace torchtrt::runtime {

// Has libtorch plan now how to run the module's methods that call engines and do nothing else: it would in their first
// two calls, for 0.4 ms each. Other methods libtorch plans by what their first call shows: what it watches that call
// with is made now for those that call engines, and what that needs once a process, tables of 3 MB that it takes 37 ms
// to make, is there from then on. Where the engines are small, such a method is called once with zeros, since fetching
// its code takes longer than the call. Changes no result. Returns how many methods are planned.
TORCHTRT_API int64_t prepare(const torch::jit::Module& module);

// A call of a module's forward with tensors that the caller owns and uses again, made ready. The module runs one engine
// on the CPU and nothing else. run() allocates no memory, takes no lock and makes no system call, except those with
// which the OpenMP library wakes its threads and waits for them; with one thread there are none. docs/real_time.md has
// the limits. libtorch takes no part: calls are not counted, recorded or profiled, and results do not require grad.
class TORCHTRT_API BoundCall {
 public:
  // inputs: the arguments of forward in their order. outputs: its results in their order, tuples taken apart: dense,
  // row-major, in memory of their own; none: they are allocated here. threads: 0 for callThreads() of now. Runs the
  // call once with the numbers that the inputs hold. An engine that has steps by kernels that allocate memory, as
  // oneDNN's, is loaded a second time without those. Throws TorchEngineError: kNotRealTime where the module or a
  // tensor cannot be bound, else as a call does.
  explicit BoundCall(const torch::jit::Module& module, std::vector<at::Tensor> inputs,
                     std::vector<at::Tensor> outputs = {}, int threads = 0);
  ~BoundCall();
  BoundCall(BoundCall&&) noexcept;
  BoundCall& operator=(BoundCall&&) noexcept;

  // Reads the inputs and writes the outputs where they were when they were bound. Throws TorchEngineError for faults in
  // the data, and (kBoundCallInUse) while another thread runs the same call: bind one for each thread.
  void run();
  // Does for the calling thread what the constructor does for its own: runs the call, and has the thread keep all that
  // its later runs need.
  void prepareThread();

  const std::vector<at::Tensor>& inputs() const;
  const std::vector<at::Tensor>& outputs() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace torchtrt::runtime
