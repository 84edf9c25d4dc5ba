// The compiler: TorchScript in, TorchScript with engines inside out. All functions throw CompileError for what the user
// can mend and InternalError for a bug in torchtrt; none of them changes the module it is given.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <torch/script.h>

#include "torchtrt/error.h"
#include "torchtrt/export.h"
#include "torchtrt/options.h"

namespace torchtrt {

// Reports a compile: phases with their times, segments with their operators, and each node's place with the reason.
struct TORCHTRT_API Report {
  struct Phase {
    std::string name;
    double milliseconds = 0;
  };
  struct Step {
    std::string name, family, location;
  };
  // A step whose implementation was chosen by timing, by CompileSpec::timing_cache.
  struct Timing {
    std::string step, family, implementation;
    std::string by_rule;      // what would run without timings
    double microseconds = 0;  // of a run
    double by_rule_microseconds = 0;
    bool is_cached = false;  // known before this compile
  };
  // A layer of an engine's network that int8 or integer weights were asked for.
  struct Layer {
    std::string name, kind, location;
    bool is_quantized = false;
    std::string reason;  // why it stays in float
    double error = -1;   // of the engine's outputs with this layer alone quantized; negative: not measured
  };
  // The quantization of an engine, by CompileSpec::ptq_calibrator or weight_precision. Errors are relative:
  // |quantized - float| / |float| in 2-norms.
  struct Calibration {
    std::string precision = "int8";  // or "int8 weights", "int4 weights", which need no ranges
    uint64_t calls = 0;              // of the engine on calibration batches or samples
    bool is_cached = false;          // its ranges were read from the cache
    std::string reason;              // why the whole engine stays in float
    double error = -1;  // of its outputs, in its first call or, with accuracy_target, in all; negative: not measured
    std::vector<Layer> layers;

    size_t quantizedLayers() const;
  };
  // In the order of execution; what is inside of a branch or loop follows it.
  struct Segment {
    std::string index;                 // "2", or "2.0.1" for number 1 of block 0 of the branch or loop 2
    std::string name;                  // of the engine
    std::string target;                // "engine" or "torch"
    std::vector<std::string> nodes;    // "aten::relu # model.py:5:8 (layer1.0)"
    std::vector<std::string> reasons;  // why they are not in an engine, each once
    std::vector<std::string> inputs;   // "x: float32 [s0, 3]", or "%x: Tensor" where PyTorch runs it
    std::vector<std::string> outputs;
    double milliseconds = 0;    // conversion, build and load
    uint64_t memory_bytes = 0;  // what its loaded engine holds
    std::vector<Step> steps;    // of an engine
    std::vector<Timing> timings;
    // With CompileSpec::batch_invariant: the steps that run another implementation than without, which is by_rule here.
    // Times are 0 where nothing was timed, which CompileSpec::tune asks for.
    std::vector<Timing> invariant;
    std::optional<Calibration> calibration;
  };
  struct Node {
    std::string node, target, code, reason;
  };
  // The effect of one pin of CompileSpec::precision.
  struct Pin {
    std::string pattern, dtype;
    size_t nodes = 0;  // for which it holds
  };
  // A size of several inputs that is taken to be one, though the Inputs do not say so: PyTorch runs other calls.
  struct GuessedSize {
    std::vector<std::string> places;  // "ids, dimension 0"
    std::string reason;               // the operator that only fits so
  };
  std::string module;
  // The share of PyTorch's time for the module's nodes that is in engines now, 0 to 1, if the compile ran them in it.
  // The module's record leaves it out, since times differ from compile to compile.
  std::optional<double> share_of_time;
  std::vector<Pin> precision;
  std::vector<GuessedSize> guessed_sizes;
  std::string shared_dims;  // what says them in the Inputs: "ids: shared_dims={0: "batch"}; ..."
  std::vector<Phase> phases;
  std::vector<Segment> segments;
  std::vector<Node> nodes;
  // The lines that locations name, as "net.py:3" and its text: readers of the report need not have the source.
  std::map<std::string, std::string> source_lines;

  double milliseconds() const;
  int engineSegments() const;
  int torchSegments() const;
  // Returns the share of working nodes that are in engines, 0 to 1.
  double shareInEngines() const;
  std::string summary() const;  // one line: shares, segments, the most frequent reasons for the rest
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

// Tensors by the names that state_dict() of the compiled module's source has for them.
using Weights = std::map<std::string, at::Tensor>;

// Gives a module that was compiled with CompileSpec::refit other weights: compiles what it keeps of its source with
// them to the same engines and checks the results, then replaces all engines and tensors at once. A call that runs
// meanwhile has the old weights, a later one the new; other methods, and buffers that the method writes, must not be
// used meanwhile. Floating dtypes are cast to the source's. Copies of the module keep their weights.
// Returns the names of buffers that were not given and stay as they are: CompileSpec::optional_weights or, with
// `strict` = false, any; unknown names are ignored then, too. Throws CompileError, and leaves the module as it was, for
// a module without refit, for weights that do not fit, and for values that other code would be compiled for.
TORCHTRT_API std::vector<std::string> update_weights(torch::jit::Module& compiled, const Weights& weights,
                                                     bool strict = true);

// The method as one self-contained serialized engine.
TORCHTRT_API std::string convert_method_to_trt_engine(const torch::jit::Module& module, std::string method_name,
                                                      CompileSpec info);

// A module whose `forward` runs the engine. Names reorder arguments and results; empty: the engine's own order.
TORCHTRT_API torch::jit::Module embed_engine_in_new_module(const std::string& engine, Device device = Device(),
                                                           const std::vector<std::string>& input_binding_names = {},
                                                           const std::vector<std::string>& output_binding_names = {});

// The settings as torch.classes.tensorrt.CompileSpec, which torch._C._jit_to_backend("tensorrt", module, {method: it})
// takes, as does torch::jit::detail::codegen_backend_module. Each method becomes one engine. Throws CompileError for an
// input signature and for what keeps operators in PyTorch.
TORCHTRT_API torch::jit::IValue to_backend_spec(const CompileSpec& info);

}  // namespace ts
}  // namespace torchtrt
