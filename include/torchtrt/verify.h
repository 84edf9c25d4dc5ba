// Compares a compiled module with the module it was made of: each engine with the same operators in PyTorch on the
// tensors that reach it, and the results of both modules. Segments that PyTorch runs in both are not compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <torch/script.h>

#include "torchtrt/deviation.h"
#include "torchtrt/export.h"

namespace torchtrt {

struct TORCHTRT_API Verification {
  using Deviation = torchtrt::Deviation;
  // A segment of the module that an engine runs.
  struct Segment {
    std::string name;                // of the engine
    std::string location;            // of its first operator: "net.py:3:8"
    std::vector<std::string> nodes;  // its operators: "aten::relu # net.py:3:8"
    int64_t calls = 0;               // in a forward
    bool was_compared = false;
    Deviation deviation;             // the worst of the calls
    double engine_milliseconds = 0;  // of a call on the inputs of the first: median
    double torch_milliseconds = 0;
    std::string culprit;  // of one that disagrees: the first operator up to which an engine that is made anew does, too
    std::string note;     // why it was not compared, or its culprit not looked for
  };
  int threads = 0;
  int calls = 0;                   // that were timed
  double torch_milliseconds = 0;   // of a forward of the module: median
  double engine_milliseconds = 0;  // of the compiled module
  Deviation outputs;               // of the compiled module from the module; of what is left in the inputs, too
  std::vector<Segment> segments;   // in the order of their first calls

  bool agrees() const;  // outputs and segments
  // These return the first, or the worst, of the segments that disagree; null if none does.
  const Segment* first() const;
  const Segment* worst() const;
  std::string verdict() const;  // one line
  std::string toText() const;
  std::string toJson() const;
};

namespace ts {

// Runs the forward of copies of both on copies of the inputs, calls + 1 times in turn, after that each engine and its
// operators in PyTorch on what reached it in its first 100 calls, on the calling thread. Throws what the modules throw,
// and CompileError where calls is less than 1. Modules in training mode are compared as copies in evaluation mode.
TORCHTRT_API Verification verify(torch::jit::Module module, torch::jit::Module compiled,
                                 const std::vector<torch::jit::IValue>& inputs, int calls = 20);

}  // namespace ts
}  // namespace torchtrt
