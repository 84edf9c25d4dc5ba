// A kernel is created once per plan step when the engine is loaded (weights are packed then), prepared once per set of
// shapes and strides, and run by any number of threads. This is the contract with engine and builder; what some kernels
// offer beside it has headers of its own: fusion.h (more than one layer), restores.h (weights back), work.h, limits.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "device/device.h"
#include "torchtrt/error.h"
#include "torchtrt/export.h"
#include "torchtrt/types.h"

namespace torchtrt::kernels {

// A tensor whose shape is known. Strides are in elements and may be 0 (broadcast input) or of any order.
struct TensorDesc {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;

  bool operator==(const TensorDesc&) const = default;
};

// An engine knows this of an operand when it is loaded, whatever the shapes will be.
struct Operand {
  bool present = false;  // optional operands may be absent
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;      // -1 where dynamic
  std::vector<int64_t> opt_dims;  // the shape to tune for; equal to dims where those are static
  std::vector<uint8_t> order;     // memory order (permutation, outermost first); empty = row-major
  // Weights, row-major, 64-byte aligned, in the host's memory on every device; alive while the kernel needs them.
  const void* constant = nullptr;
};

struct Problem {
  std::string_view family;                 // text name of the layer type
  const Attributes* attributes = nullptr;  // without the symbolic ones: those come resolved with every ShapeSet
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  int threads = 1;                         // threads to use for packing
  const device::Device* device = nullptr;  // where the kernel will run; null = the CPU
  // The bits of a sample, or of a row of a matrix, may not depend on the others of the batch (each_sample.h).
  bool batch_invariant = false;
  // "convolution f32 [1,3,224,224]x[64,3,7,7] {stride=[2,2]}": the line that logs print and torchtrt-bench accepts.
  TORCHTRT_API std::string toString() const;
};

// Shapes of one call.
struct ShapeSet {
  std::vector<TensorDesc> inputs;  // absent operands have empty dims and are marked by present=false in the Problem
  std::vector<TensorDesc> outputs;
  // Symbolic attributes of the layer (type dims in the layer table), resolved.
  std::vector<std::pair<std::string, std::vector<int64_t>>> dims;
  int threads = 1;  // threads a run will use at most

  TORCHTRT_API const std::vector<int64_t>& dimsOf(std::string_view name) const;  // throws InternalError when missing
};

struct RunArgs {
  const void* const* inputs;  // null for absent operands, and for constants the kernel said it does not need
  void* const* outputs;
  void* scratch;  // 64-byte aligned, scratchBytes() long; null when that is 0
  int threads;
  device::Stream stream = {};  // in whose order it runs; a kernel of the CPU has run when run() returns
  bool is_fenced = false;      // it must read no operand before the work in front of it in the stream has ended
};

// A kernel made ready for one ShapeSet: immutable, shared by all contexts. Pointers lead to memory of the problem's
// device. A kernel of the CPU throws EngineError for faults in the data; one of a device that works asynchronously
// reports them later (Device::checkFaults).
class TORCHTRT_API Prepared {
 public:
  virtual ~Prepared() = default;
  // Begins what takes long, such as compiling, unless prepare() has. Kernels that become part of another never do.
  virtual void begin() const {}
  // Waits for that. A run does so, too. Throws EngineError if it has failed.
  virtual void complete() const {}
  virtual void run(const RunArgs& args) const = 0;
  // False if run() waits for its stream: such work cannot be part of a recording.
  virtual bool isRecordable() const {
    return true;
  }
  // The operand whose memory the first output may share: run() then writes only what changes. It has the dims, strides
  // and dtype of the output. -1: none.
  virtual int updatedInput() const {
    return -1;
  }
  // True if run() may read that operand before the work in front of it in the stream has ended, unless it is fenced.
  virtual bool readsAhead(size_t input) const {
    (void)input;
    return false;
  }
  virtual size_t scratchBytes() const {
    return 0;
  }
  virtual size_t heldBytes() const {  // what caching this costs beyond the object
    return 0;
  }
};

class TORCHTRT_API Kernel {
 public:
  virtual ~Kernel() = default;
  virtual std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const = 0;
  // False once a constant input was packed: the engine may then release the original.
  virtual bool needsConstant(int input) const {
    (void)input;
    return true;
  }
  virtual size_t packedBytes() const {
    return 0;
  }
  // True if a run computes the samples of a batch one after the other (each_sample.h).
  virtual bool runsEachSample() const {
    return false;
  }
  // True when prepare() takes this operand with these strides. The engine asks only for network inputs that do not lie
  // in the order the plan gives them, and hands over a dense copy when the answer is no.
  virtual bool acceptsStrides(int input, const TensorDesc& desc) const {
    (void)input;
    (void)desc;
    return false;
  }
};

using CreateResult = std::variant<std::unique_ptr<Kernel>, Refusal>;

// True for kApart if the results of a sample (an image of a convolution, a row of a matrix multiplication, an index of
// an axis that no other kind sums over) have the same bits in every batch.
enum class Samples : uint8_t { kApart, kTogether };

struct Implementation {
  const char* name;                                // "onednn", "depthwise", "reference"
  CreateResult (*create)(const Problem& problem);  // refuses only what it cannot do
  // A rule of thumb: the reason to leave a problem that it can compute to those behind it. Null = it takes all it can.
  // The rule is not asked where a caller names the implementation.
  std::optional<Refusal> (*leaves)(const Problem& problem) = nullptr;
  const char* former = "";            // an earlier name, which hints of old plans and timing caches hold
  Samples samples = Samples::kApart;  // where the problem asks for it (Problem::batch_invariant)
};

// Asks the rule, if there is one, then create(). With Problem::batch_invariant, both are asked as for one sample.
TORCHTRT_API CreateResult createByRule(const Implementation& implementation, const Problem& problem);

// An ordered list, fastest first. The last refuses nothing that the verifier lets through: "reference" on the CPU.
struct Family {
  const char* name;
  std::vector<Implementation> implementations;

  // The implementation that has this name today or had it once; null if there is none.
  TORCHTRT_API const Implementation* find(std::string_view name_of_implementation) const;
};

// Returns the family in the backend of a device; null = the CPU.
TORCHTRT_API const Family* findFamily(std::string_view name, const device::Device* device = nullptr);

struct Chosen {
  std::unique_ptr<Kernel> kernel;
  const char* implementation = "";
  std::vector<std::pair<std::string, Refusal>> refusals;  // of the implementations passed over
};
// The implementation named by `hint` if it accepts, else the first that accepts. "" = no hint; "reference" forces the
// reference.
TORCHTRT_API Chosen createKernel(const Problem& problem, std::string_view hint = {});

// The number of elements.
TORCHTRT_API int64_t countOf(const std::vector<int64_t>& dims);
// Strides of a tensor when it is broadcast to `dims` by NumPy's rules.
TORCHTRT_API std::vector<int64_t> broadcastStrides(const TensorDesc& tensor, const std::vector<int64_t>& dims);
// Row-major strides, and strides for a memory order.
TORCHTRT_API std::vector<int64_t> denseStrides(const std::vector<int64_t>& dims,
                                               const std::vector<uint8_t>& order = {});

}  // namespace torchtrt::kernels
