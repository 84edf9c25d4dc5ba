// The engine: a plan loaded on a device, immutable and shared by any number of threads. A call takes bindings by
// pointer, shape and stride (nothing is copied where a kernel can read it as it is) and allocates outputs through the
// caller. No libtorch here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "torchtrt/device_memory.h"
#include "torchtrt/error.h"
#include "torchtrt/export.h"
#include "torchtrt/types.h"

namespace torchtrt::engine {

// An input of a call. Strides in elements; any order, 0 for expanded dims.
struct TensorView {
  DType dtype = DType::kFloat32;
  int32_t rank = 0;
  const int64_t* dims = nullptr;
  const int64_t* strides = nullptr;
  const void* data = nullptr;  // may be null only for empty tensors
};

// Allocates outputs: called once per output and call, before the step that writes it runs. Row-major memory, 64-byte
// aligned.
class TORCHTRT_API OutputAllocator {
 public:
  virtual ~OutputAllocator() = default;
  virtual void* allocate(int index, DType dtype, TORCHTRT_SPAN<const int64_t> dims) = 0;
  // Asked first for an output that differs from an input in some elements alone, and has its dims, dtype and row-major
  // memory. Returns that input's memory if the call may change it there, which then writes only these elements. Null:
  // allocate() is asked, and the input stays as it is.
  virtual void* allocateOver(int index, int input) {
    (void)index;
    (void)input;
    return nullptr;
  }
};

struct BindingInfo {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<std::string> dims;       // expressions; numbers where static
  std::vector<int64_t> min, opt, max;  // the range each dim was compiled for (inputs: to be held, outputs: as computed)
};

// A weight given beside the plan (see Plan::weights).
struct ExternalWeight {
  const void* data = nullptr;
  size_t bytes = 0;
  std::shared_ptr<const void> owner;
};

struct LoadOptions {
  int threads = 0;                                 // for packing; 0 = all the process may use
  std::string device = "cpu";                      // "cpu", "cuda" (the first) or "cuda:1"
  size_t shape_cache_bytes = 16u << 20;            // bound of the per-shape cache
  bool force_reference = false;                    // every step runs its reference kernel
  std::vector<std::string> disabled_fusions = {};  // names of fusion rules; a name that is no rule's is an error (C003)
  // Processes that load the same engine with this have its weights in memory once, on the CPU of one machine. The
  // environment's TORCHTRT_SHARE_WEIGHTS does the same for all engines.
  bool share_weights = false;
  // Leaves out kernels that may allocate memory or wait in a call: those of oneDNN, and plugins but attention. Every
  // call of the engine may then be bound. A step without another kernel is an error (kNotRealTime).
  bool real_time = false;
  bool prepare = true;  // for the optimum of all shapes, so that no first call has to do it
  // Asked, where set, for the memory of each external weight that calls go on reading, in place of what was given: for
  // weights in memory that may change once they are packed.
  std::function<std::shared_ptr<const void>(size_t index)> lasting = nullptr;
  // Told, where set, of each external weight that can be restored, as soon as it is packed: nobody reads what was given
  // from then on, so that its memory may go before the next weights are packed.
  std::function<void(size_t index)> packed = nullptr;
  // Workspaces of calls come from here, where it is set, on a device with streams.
  std::shared_ptr<device::MemorySource> memory = nullptr;
};

struct CallOptions {
  int threads = 0;         // at most so many; 0 = OpenMP's setting of the calling thread
  void* stream = nullptr;  // a CUstream on a CUDA device: the call's work runs in its order; null = the default stream
};

// A device as its backend describes it.
struct DeviceDescription {
  std::string name;          // "cpu", "NVIDIA H100 80GB HBM3"
  std::string architecture;  // instruction sets that matter to kernels: "avx2 avx512", "sm_90"
};
// The device is named as in LoadOptions. Throws EngineError(kInputDevice) that says what is missing.
TORCHTRT_API DeviceDescription describeDevice(const std::string& device);

// The switches that the environment sets for engines that are loaded now (TORCHTRT_REFERENCE_KERNELS,
// TORCHTRT_DISABLE_FUSION), as text. Engines of the same plan that were loaded under different switches are different.
TORCHTRT_API std::string kernelSwitches();

struct StepProfile {
  std::string name, family, implementation;
  Location location;
  double microseconds = 0;  // mean over the profiled calls; of calls that a GPU replays, what the step adds to one
  double flops = 0;         // of a call: multiplications and additions
  double bytes = 0;         // of a call: operands read and written, each once; 0 of copies that the engine added
  std::string factors;      // the dtype that tensor cores of a GPU may multiply: "float16", "bfloat16", "tf32", "int8"
};

// A call of an engine with memory that its caller owns, made ready (Engine::bind). run() allocates no memory, takes no
// lock, and makes no system call except those with which the OpenMP library wakes its threads and waits for them. With
// one thread it makes none.
class TORCHTRT_API BoundCall {
 public:
  virtual ~BoundCall() = default;
  // Reads the inputs and writes the outputs where they were when it was bound. Throws EngineError for faults in the
  // data, and (kBoundCallInUse) while another thread runs the same call; the two do not wait for each other.
  virtual void run() = 0;
  // Runs the call, and has the calling thread keep all that its later calls need: a team of threads, memory for
  // kernels. bind() has done this for its own thread.
  virtual void prepareThread() = 0;
};

class TORCHTRT_API Engine {
 public:
  // Bytes as plan::serialize (external empty) or plan::serializeWithoutWeights (external in order) made them.
  static std::shared_ptr<const Engine> load(TORCHTRT_SPAN<const std::byte> plan,
                                            std::shared_ptr<const void> owner = nullptr,
                                            std::vector<ExternalWeight> external = {}, const LoadOptions& options = {});
  virtual ~Engine() = default;

  virtual const std::string& name() const = 0;
  virtual const std::vector<BindingInfo>& inputs() const = 0;
  virtual const std::vector<BindingInfo>& outputs() const = 0;
  virtual std::string device() const = 0;  // "cpu", "cuda:0"

  // Runs on the caller's thread. On the CPU the outputs are computed when this returns; on a CUDA device its work has
  // been given to the stream, and faults in the data (an index out of range) show at a later call or wait. Inputs and
  // outputs lie on the engine's device. Throws EngineError.
  virtual void enqueue(TORCHTRT_SPAN<const TensorView> inputs, OutputAllocator& outputs,
                       const CallOptions& options) const = 0;
  void enqueue(TORCHTRT_SPAN<const TensorView> inputs, OutputAllocator& outputs, int threads = 0) const {
    enqueue(inputs, outputs, CallOptions{threads, nullptr});
  }
  // Makes a call ready with inputs of these shapes and strides, at these addresses, and with memory for each output:
  // row-major, of outputShapes(inputs), 64-byte aligned, apart from the inputs. All of it outlives the call, which
  // takes its number of threads from here. Runs it once with the numbers that the inputs hold. Throws EngineError, also
  // (kNotRealTime) on a GPU, for steps that are not for real time, and for outputs whose size depends on data.
  virtual std::unique_ptr<BoundCall> bind(TORCHTRT_SPAN<const TensorView> inputs, TORCHTRT_SPAN<void* const> outputs,
                                          int threads = 0) const = 0;
  // True if no step runs a kernel that may allocate memory or wait. Engines that were loaded with real_time are so.
  virtual bool isRealTime() const = 0;
  // Waits for the stream, and forgets the faults that earlier calls in it met in their data. For callers that ran the
  // engine on made-up numbers, as a rehearsal does. Does nothing on the CPU.
  virtual void discardFaults(void* stream) const = 0;
  // Output shapes for input shapes, without running anything.
  virtual std::vector<std::vector<int64_t>> outputShapes(TORCHTRT_SPAN<const TensorView> inputs) const = 0;
  // clang-format off
  virtual std::vector<StepProfile> profile(TORCHTRT_SPAN<const TensorView> inputs, int calls, int threads = 0) const = 0;
  virtual std::string inspect() const = 0;  // the plan as text, with the implementation chosen for every step
  // Describes a call with inputs of these shapes and strides: one line per kernel, with the steps that it computes, then
  // skipped steps and pairs that no fusion rule joined. Reads no data.
  virtual std::string schedule(TORCHTRT_SPAN<const TensorView> inputs, int threads = 0) const = 0;
  virtual size_t memoryBytes() const = 0;  // weights and packed weights held
  virtual size_t sharedBytes() const = 0;  // of these, in memory that other processes may share (share_weights)
  virtual size_t workspaceBytes(TORCHTRT_SPAN<const TensorView> inputs) const = 0;
  // clang-format on
  // True if weight `index` of the plan can be restored from a kernel's packed weights. Then its owner may let it go,
  // and the engine does not hold it either.
  virtual bool restoresWeight(size_t index) const = 0;
  // Writes it, bit by bit as it was given, to `to`, which has its size. Only where restoresWeight(index).
  virtual void restoreWeight(size_t index, TORCHTRT_SPAN<std::byte> to, int threads = 0) const = 0;
};

}  // namespace torchtrt::engine
