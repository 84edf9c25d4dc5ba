// Shows where a module spends its time: its engines, the operators that PyTorch runs beside them, and every step of
// every engine against the machine's limits. It takes modules of compile(), and any other TorchScript module, which has
// no engines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <torch/script.h>

#include "torchtrt/export.h"

namespace torchtrt {

struct TORCHTRT_API Profile {
  struct Step {
    std::string name, family, implementation, location;
    double microseconds = 0;  // mean of a run
    double flops = 0;         // of a run: multiplications and additions
    double bytes = 0;         // of a run: operands read and written, each once; 0 of copies that the engine added
    std::string factors;  // the dtype that tensor cores of a GPU may multiply: "float16", "bfloat16", "tf32", "int8"
  };
  struct Engine {
    std::string name;
    int64_t calls = 0;        // in a forward
    double milliseconds = 0;  // of all of them: median over the forwards
    std::vector<Step> steps;  // of a call on the inputs of the first
    std::string note;         // why there are no steps: what the engine said to these inputs
  };
  // An operator that PyTorch runs outside of engines.
  struct Operator {
    std::string name;
    int64_t calls = 0;
    double milliseconds = 0;
  };
  int threads = 0;
  int forwards = 0;                    // that were timed
  double milliseconds = 0;             // of a forward that nobody watched: median
  double flops_per_second = 0;         // what the machine reaches on float32 multiply-adds with these threads
  double tensor_flops_per_second = 0;  // of a GPU's tensor cores on factors of float16; 0 if they were not measured
  double bytes_per_second = 0;         // when it copies memory
  std::vector<Engine> engines;         // in the order of their first calls
  std::vector<Operator> operators;

  // Returns the multiply-adds a second that the machine reaches at most on the step's dtype. On tensor cores TF32 has
  // half of the speed of float16, and int8 twice.
  double peakOf(const Step& step) const;
  // These return the shares of the machine's limits that a run reaches. Multiply-adds may exceed the peak (share above
  // 1) if an algorithm such as Winograd's saves some, and bytes the bandwidth of memory if caches hold them.
  double shareOfPeak(const Step& step) const;
  double shareOfBandwidth(const Step& step) const;
  // Tables, with the `most` slowest steps of each engine.
  std::string toText(size_t most = 20) const;
  std::string toJson() const;
  // A trace that Perfetto (ui.perfetto.dev) and chrome://tracing show. Its times are the measured ones, its order is
  // not a forward's: one call of each engine with its steps, then the operators of PyTorch in a row of their own.
  std::string toTrace() const;
};

namespace ts {

// Calls the module's forward 2*calls + 1 times and each of its engines calls + 1 times, on the calling thread. Throws
// what the module throws, and CompileError where calls is less than 1.
TORCHTRT_API Profile profile(torch::jit::Module module, const std::vector<torch::jit::IValue>& inputs, int calls = 20);

}  // namespace ts
}  // namespace torchtrt
