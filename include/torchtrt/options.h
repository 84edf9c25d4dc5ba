// The user's options for the compiler: inputs, device, precisions and the switches of the reference system, with its
// names and defaults. Values only; compile checks them against a module.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <torch/custom_class.h>
#include <torch/script.h>

#include "torchtrt/export.h"
#include "torchtrt/progress.h"
#include "torchtrt/rewriting.h"

namespace torchtrt {

// Element type of an input or of a precision. Converts from torch's, so that torch::kHalf can be given where one is
// asked for.
class TORCHTRT_API DataType {
 public:
  enum Value : int8_t {
    kLong = 0,
    kDouble,
    kFloat,
    kHalf,
    kChar,
    kInt,
    kBool,
    kUnknown,  // to be inferred from the first use
    kBFloat16,
    kByte,
    kShort,
  };
  constexpr DataType() = default;
  constexpr DataType(Value value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  DataType(c10::ScalarType type);                     // NOLINT(google-explicit-constructor): throws CompileError
  constexpr operator Value() const {                  // NOLINT(google-explicit-constructor): for switch and comparison
    return value_;
  }
  explicit operator bool() const = delete;
  bool operator==(c10::ScalarType type) const;  // false for a type that no engine has
  bool operator!=(c10::ScalarType type) const {
    return !(*this == type);
  }

 private:
  Value value_ = kUnknown;
};
TORCHTRT_API std::ostream& operator<<(std::ostream& out, const DataType& dtype);

// The memory layout of an input. Engines read inputs as they lie, so this is checked and recorded but changes no
// result.
class TORCHTRT_API TensorFormat {
 public:
  enum Value : int8_t { kContiguous, kChannelsLast, kUnknown };
  constexpr TensorFormat() = default;
  constexpr TensorFormat(Value value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  TensorFormat(at::MemoryFormat format);                  // NOLINT(google-explicit-constructor): throws CompileError
  constexpr operator Value() const {                      // NOLINT(google-explicit-constructor)
    return value_;
  }
  explicit operator bool() const = delete;

 private:
  Value value_ = kContiguous;
};
TORCHTRT_API std::ostream& operator<<(std::ostream& out, const TensorFormat& format);

// The device of the engine. kAUTO: that of the module's parameters, else the CPU.
struct TORCHTRT_API Device {
  class TORCHTRT_API DeviceType {
   public:
    enum Value : int8_t { kGPU, kDLA, kCPU, kAUTO };
    constexpr DeviceType() = default;
    constexpr DeviceType(Value value) : value_(value) {}  // NOLINT(google-explicit-constructor)
    DeviceType(c10::DeviceType type);                     // NOLINT(google-explicit-constructor): throws CompileError
    constexpr operator Value() const {                    // NOLINT(google-explicit-constructor)
      return value_;
    }
    explicit operator bool() const = delete;

   private:
    Value value_ = kAUTO;
  };

  DeviceType device_type;
  int64_t gpu_id = 0;
  int64_t dla_core = 0;
  bool allow_gpu_fallback = false;
};
TORCHTRT_API std::ostream& operator<<(std::ostream& out, const Device& device);

enum class EngineCapability : int8_t { kSTANDARD, kSAFETY, kDLA_STANDALONE };

// One tensor that a method takes: a shape, or a range of shapes as minimum, optimum and maximum (-1 in a single shape:
// any size), dtype (kUnknown: inferred), format, and the range [lo, hi) that random data for it is drawn from. The
// format is how calls usually give it: those need no copy then, and others stay right. Every constructor throws
// CompileError where these contradict each other.
struct TORCHTRT_API Input : torch::CustomClassHolder {
  using Shape = std::vector<int64_t>;
  using ShapeRef = c10::ArrayRef<int64_t>;
  using Domain = std::vector<double>;

  std::vector<int64_t> min_shape, opt_shape, max_shape;
  std::vector<int64_t> shape;  // -1 where dynamic
  DataType dtype;
  TensorFormat format;
  Domain tensor_domain = {0, 2};
  // Names of dimensions, by position, empty where without; dynamic dimensions of one name are one size at run time.
  std::vector<std::string> dim_names;
  at::Tensor sample;  // the tensor this was made from, if it was

  Input() = default;  // a tensor without dimensions
  // Sizes in braces, which would be a Shape and a ShapeRef alike.
  using Sizes = std::initializer_list<int64_t>;
  Input(Sizes shape, TensorFormat format = TensorFormat::kContiguous)  // NOLINT(google-explicit-constructor)
      : Input(Shape(shape), format) {}
  Input(Sizes shape, Domain tensor_domain, TensorFormat format = TensorFormat::kContiguous)
      : Input(Shape(shape), std::move(tensor_domain), format) {}
  Input(Sizes shape, DataType dtype, TensorFormat format = TensorFormat::kContiguous)
      : Input(Shape(shape), dtype, format) {}
  Input(Sizes shape, DataType dtype, Domain tensor_domain, TensorFormat format = TensorFormat::kContiguous)
      : Input(Shape(shape), dtype, std::move(tensor_domain), format) {}
  Input(Sizes min_shape, Sizes opt_shape, Sizes max_shape, TensorFormat format = TensorFormat::kContiguous)
      : Input(Shape(min_shape), Shape(opt_shape), Shape(max_shape), format) {}
  Input(Sizes min_shape, Sizes opt_shape, Sizes max_shape, Domain tensor_domain,
        TensorFormat format = TensorFormat::kContiguous)
      : Input(Shape(min_shape), Shape(opt_shape), Shape(max_shape), std::move(tensor_domain), format) {}
  Input(Sizes min_shape, Sizes opt_shape, Sizes max_shape, DataType dtype,
        TensorFormat format = TensorFormat::kContiguous)
      : Input(Shape(min_shape), Shape(opt_shape), Shape(max_shape), dtype, format) {}
  Input(Sizes min_shape, Sizes opt_shape, Sizes max_shape, DataType dtype, Domain tensor_domain,
        TensorFormat format = TensorFormat::kContiguous)
      : Input(Shape(min_shape), Shape(opt_shape), Shape(max_shape), dtype, std::move(tensor_domain), format) {}
  Input(Shape shape, TensorFormat format = TensorFormat::kContiguous);  // NOLINT(google-explicit-constructor)
  Input(Shape shape, Domain tensor_domain, TensorFormat format = TensorFormat::kContiguous);
  Input(Shape shape, DataType dtype, TensorFormat format = TensorFormat::kContiguous);
  Input(Shape shape, DataType dtype, Domain tensor_domain, TensorFormat format = TensorFormat::kContiguous);
  Input(ShapeRef shape, TensorFormat format = TensorFormat::kContiguous);  // NOLINT(google-explicit-constructor)
  Input(ShapeRef shape, Domain tensor_domain, TensorFormat format = TensorFormat::kContiguous);
  Input(ShapeRef shape, DataType dtype, TensorFormat format = TensorFormat::kContiguous);
  Input(ShapeRef shape, DataType dtype, Domain tensor_domain, TensorFormat format = TensorFormat::kContiguous);
  Input(Shape min_shape, Shape opt_shape, Shape max_shape, TensorFormat format = TensorFormat::kContiguous);
  Input(Shape min_shape, Shape opt_shape, Shape max_shape, Domain tensor_domain,
        TensorFormat format = TensorFormat::kContiguous);
  Input(Shape min_shape, Shape opt_shape, Shape max_shape, DataType dtype,
        TensorFormat format = TensorFormat::kContiguous);
  Input(Shape min_shape, Shape opt_shape, Shape max_shape, DataType dtype, Domain tensor_domain,
        TensorFormat format = TensorFormat::kContiguous);
  Input(ShapeRef min_shape, ShapeRef opt_shape, ShapeRef max_shape, TensorFormat format = TensorFormat::kContiguous);
  Input(ShapeRef min_shape, ShapeRef opt_shape, ShapeRef max_shape, Domain tensor_domain,
        TensorFormat format = TensorFormat::kContiguous);
  Input(ShapeRef min_shape, ShapeRef opt_shape, ShapeRef max_shape, DataType dtype,
        TensorFormat format = TensorFormat::kContiguous);
  Input(ShapeRef min_shape, ShapeRef opt_shape, ShapeRef max_shape, DataType dtype, Domain tensor_domain,
        TensorFormat format = TensorFormat::kContiguous);
  Input(at::Tensor tensor);  // NOLINT(google-explicit-constructor): its shape, dtype and layout; kept as a sample

  // One of several ranges. The Input takes what any of them holds, tuned for the optimum of the first. One plan serves
  // the smallest range around all, so there is nothing to switch at run time.
  struct Profile {
    Shape min, opt, max;
  };
  static Input ofProfiles(const std::vector<Profile>& profiles, DataType dtype = {},
                          TensorFormat format = TensorFormat::kContiguous);

  bool isDynamic() const {
    return min_shape != max_shape;
  }
};
TORCHTRT_API std::ostream& operator<<(std::ostream& out, const Input& input);

// The inputs of a method: flat, or nested as the method takes them (tuples and lists of Input, as IValues).
struct TORCHTRT_API GraphInputs {
  GraphInputs() = default;
  explicit GraphInputs(std::vector<Input> inputs) : inputs(std::move(inputs)) {}
  explicit GraphInputs(
      torch::jit::IValue input_signature);  // of Inputs, tensors, numbers, texts, None, and collections of them

  torch::jit::IValue input_signature;  // None where `inputs` is flat
  std::vector<Input> inputs;           // all of them, in order
};

// A minimum number of operators for an engine. Where none is given, what an engine saves decides.
class TORCHTRT_API MinBlockSize {
 public:
  constexpr MinBlockSize() = default;
  constexpr MinBlockSize(uint64_t size) : size_(size), is_given_(true) {}  // NOLINT(google-explicit-constructor)
  constexpr operator uint64_t() const {                                    // NOLINT(google-explicit-constructor)
    return size_;
  }
  constexpr bool isGiven() const {
    return is_given_;
  }

 private:
  uint64_t size_ = 3;  // the reference's default
  bool is_given_ = false;
};

// A floating dtype (float, half or bfloat16) for the modules whose path the pattern names, and all that is inside of
// them: "fc", "encoder.layer.*.attention", "encoder.layer.0.*" (which is the same as "encoder.layer.0"). `*`, `?` and
// `[...]` as in a shell, but they take dots too; "*" is the whole module.
struct TORCHTRT_API PrecisionPin {
  std::string pattern;
  DataType dtype;
};

namespace ptq {
struct Calibrator;  // torchtrt/ptq.h
}

namespace ts {

// Fields below the inputs have the reference's names and defaults. Those that a CPU engine has no use for are accepted
// and explained in a line of the log.
struct TORCHTRT_API CompileSpec {
  CompileSpec(std::vector<std::vector<int64_t>> fixed_sizes);    // NOLINT(google-explicit-constructor)
  CompileSpec(std::vector<c10::ArrayRef<int64_t>> fixed_sizes);  // NOLINT(google-explicit-constructor)
  CompileSpec(std::vector<Input> inputs);                        // NOLINT(google-explicit-constructor)
  CompileSpec(torch::jit::IValue input_signature);               // NOLINT(google-explicit-constructor)

  GraphInputs graph_inputs;
  std::set<DataType> enabled_precisions = {DataType::kFloat};
  // Engines of GPUs round the float32 factors of convolutions and matmuls to TF32 where this process lets PyTorch do
  // so (torch.backends): by default in convolutions alone. True: they never do.
  bool disable_tf32 = false;
  bool sparse_weights = false;
  bool refit = false;  // true to keep what update_weights needs: all but the weights of what is compiled
  bool debug = false;
  bool truncate_long_and_double = false;
  bool allow_shape_tensors = false;
  Device device;
  EngineCapability capability = EngineCapability::kSTANDARD;
  uint64_t num_avg_timing_iters = 1;
  uint64_t workspace_size = 0;
  uint64_t dla_sram_size = 1048576;
  uint64_t dla_local_dram_size = 1073741824;
  uint64_t dla_global_dram_size = 536870912;
  bool require_full_compilation = false;
  MinBlockSize min_block_size;
  std::vector<std::string> torch_executed_ops;  // "aten::relu"; in-place and general forms mean what becomes of them
  std::vector<std::string> torch_executed_modules;
  // Gives the ranges of int8, with kChar among enabled_precisions. It is not changed and may serve many compiles.
  std::shared_ptr<const ptq::Calibrator> ptq_calibrator;

  // Beyond the reference.
  // int8: the largest relative error, |int8 - float| / |float| in 2-norms over all batches, that an output of an engine
  // may have, between 0 and 1; the layers that cost the most stay in float until it is met. None: nothing is measured.
  std::optional<double> accuracy_target;
  // "int8" or "int4": engines keep the weights of matrix multiplications as integers of so many bits, and compute with
  // the float32 numbers that they stand for. "" leaves weights as they are. Layers of modules that `precision` pins
  // keep theirs. With accuracy_target, a calibrator gives the batches on which layers are measured.
  std::string weight_precision;
  // Weights along the depth of a matrix that share a scale: a multiple of 8 from 32 to 128. A matrix of another depth
  // keeps its weights.
  uint64_t group_size = 64;
  // True to give each group a zero point, too: exacter for weights that are not around zero, and some more memory.
  bool weight_zero_points = false;
  // Floating weights, and inputs whose dtype is not given, are cast to this first (kUnknown: they stay as they are).
  DataType op_precision;
  // Pins modules to other precisions: their operands are cast to it, and their results are cast back where others read
  // them. If several pins cover a module, the last holds. Their weights are not cast to op_precision first.
  std::vector<PrecisionPin> precision;
  // The architecture of the GPU that engines are for, "sm_90"; "" for that of the GPU at hand. With it, a machine that
  // has no GPU compiles for one: the module is checked, and runs, on the CPU there. Engines carry the machine code of
  // their kernels for it, where NVRTC is found.
  std::string target;
  // Arguments of one call, on which results are compared and engines timed. Empty: the tensors that inputs were made
  // from, if all were.
  std::vector<torch::jit::IValue> sample_inputs;
  // True to compare results with PyTorch's in one call: on the sample inputs or, without them, on the CPU on inputs
  // that are made within what `inputs` say (docs/verification.md). An engine that disagrees runs in PyTorch instead;
  // where nothing may, that is an error.
  bool check_results = true;
  // True to time engines against PyTorch on those arguments, and to leave to PyTorch what is slower in an engine.
  // Engines inside branches and loops are timed if the arguments reach them.
  bool tune = false;
  // A file of the fastest implementations of convolutions and matrix multiplications, by machine; "" for none. Engines
  // take those that it names for this machine. With `tune`, others are timed, the longest first, for `tuning_seconds`
  // at the most, and added. An implementation that is in no file, or in a damaged one, is chosen by rule.
  std::string timing_cache;
  double tuning_seconds = 10;
  // True for engines that give each sample of a batch the bits that it has alone: index i of dim 0 of inputs and
  // outputs. Kernels are chosen without regard to the batch, and some run once for each sample (docs/numbers.md).
  bool batch_invariant = false;
  // If true, the compiled module has the module's other methods too, with the weights that they read. It never has
  // those that only the compiled method calls and whose names begin with "_".
  bool keep_methods = true;
  // With refit: names of buffers that an update of weights need not give, because the state_dict() of what was scripted
  // leaves them out. TorchScript does not know which buffers are not persistent.
  std::vector<std::string> optional_weights;
  // Run on the network of every engine, in order, after conversion and before optimization. They may not change its
  // inputs and outputs. An error of one ends the compile and names pattern and layer.
  std::vector<rewriting::NetworkRewriter> rewriters;
  // Told where the compile is several times a second, by the thread that compiles; what it throws ends the compile, and
  // compile() throws it. Nothing is left half written then, and the module is as it was.
  CompileWatcher watcher;
};

}  // namespace ts
namespace torchscript = ts;

}  // namespace torchtrt
