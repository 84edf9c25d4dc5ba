// The compiler: TorchScript in, TorchScript with engines inside out. All functions throw CompileError for what the user
// can mend and InternalError for a bug of ours; none of them changes the module it is given.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <torch/script.h>

#include "torchtrt/error.h"
#include "torchtrt/export.h"
#include "torchtrt/options.h"

namespace torchtrt {

// What a compile did: phases with their times, segments with their steps, and for every node where it went and why.
struct TORCHTRT_API Report {
  struct Phase {
    std::string name;
    double milliseconds = 0;
  };
  struct Step {
    std::string name, family, location;
  };
  struct Segment {
    std::string name, target, reason;
    int nodes = 0;
    double milliseconds = 0;    // conversion, build and load
    uint64_t memory_bytes = 0;  // what its loaded engine holds
    std::vector<Step> steps;    // of an engine
  };
  struct Node {
    std::string node, target, reason;
  };
  std::string module;
  std::vector<Phase> phases;
  std::vector<Segment> segments;
  std::vector<Node> nodes;

  double milliseconds() const;
  std::string toText() const;
  std::string toJson() const;
};

// "torchtrt 0.1.0, ..." with the versions of what it was built with.
TORCHTRT_API std::string get_build_info();
TORCHTRT_API void dump_build_info();
// Throws CompileError: engines run on the CPU here.
TORCHTRT_API void set_device(int gpu_id);

namespace ts {

// True when every operator of the method can be converted; what cannot is logged as a warning.
TORCHTRT_API bool check_method_operator_support(const torch::jit::Module& module, std::string method_name);

// The module's `forward`, compiled: same arguments, same results.
TORCHTRT_API torch::jit::Module compile(const torch::jit::Module& module, CompileSpec info, Report* report = nullptr);
// The same for a graph without a module: IR text that was parsed, or the graph of a script function.
TORCHTRT_API torch::jit::Module compile(const std::shared_ptr<torch::jit::Graph>& graph, CompileSpec info,
                                        Report* report = nullptr);

// The method as one self-contained serialized engine.
TORCHTRT_API std::string convert_method_to_trt_engine(const torch::jit::Module& module, std::string method_name,
                                                      CompileSpec info);

// A module whose `forward` runs the engine. Names reorder arguments and results; empty: the engine's own order.
TORCHTRT_API torch::jit::Module embed_engine_in_new_module(const std::string& engine, Device device = Device(),
                                                           const std::vector<std::string>& input_binding_names = {},
                                                           const std::vector<std::string>& output_binding_names = {});

}  // namespace ts
}  // namespace torchtrt
