// A prepared kernel as a list of launches, and of calls of NVIDIA's libraries: what every family of this backend is
// made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "cuda/compile/program.h"
#include "cuda/launch/tensor_map.h"
#include "kernels/kernel.h"

namespace torchtrt::cuda {

struct Geometry {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;  // dynamic shared memory
};
// Blocks of 256 threads for `count` elements; a kernel goes on with a stride of the whole grid where there are more.
Geometry geometryFor(int64_t count);
// A block of `threads` for each of `count` rows; a kernel goes on with a stride of the grid.
Geometry blocksFor(int64_t count, unsigned threads);

// The arguments of a function, in order: operands of the call, and values that are fixed when it is prepared.
class Arguments {
 public:
  // A pointer to an operand, `bytes` behind where it begins; null if it is absent.
  Arguments& input(size_t index, int64_t bytes = 0);
  Arguments& output(size_t index, int64_t bytes = 0);
  Arguments& scratch(int64_t bytes);
  // A pointer to the word where the step that runs reports a Fault.
  Arguments& fault();
  // A pointer that stays the same.
  Arguments& fixed(DevicePointer address);
  Arguments& absent() {  // a null pointer
    return fixed(0);
  }
  // The function gets a tensor map of what the pointer before points to, instead of the pointer.
  Arguments& through(TensorMap map);
  template <typename T>
  Arguments& value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return bytes(&value, sizeof(T));
  }
  Arguments& bytes(const void* data, size_t size);

 private:
  friend class Launches;
  enum class Kind : uint8_t { kInput, kOutput, kScratch, kFault, kFixed, kValue };
  struct Argument {
    Kind kind;
    size_t index = 0;    // of the operand; of a value: where it begins in `values_`
    int64_t offset = 0;  // in bytes; a fixed pointer itself
    int map = -1;        // among `maps_`
  };
  std::vector<Argument> arguments_;
  std::vector<std::byte> values_;  // each begins at a multiple of 16
  std::vector<TensorMap> maps_;
};

// Memory that a library of NVIDIA's works in begins at a multiple of so many bytes; scratch memory at one of 64.
inline constexpr size_t kWorkspaceAlignment = 256;
// The bytes to reserve for a workspace of so many, and its begin within them.
size_t workspaceBytes(size_t bytes);
void* workspaceAt(DevicePointer reserved, size_t bytes);  // null for no bytes

// Work that a library of NVIDIA's gives to a stream. It waits for nothing, so that it can be recorded.
class StreamCall {
 public:
  virtual ~StreamCall() = default;
  // `pointers` are the arguments of Launches::add(), in order. The device's context is the current one.
  virtual void run(const DevicePointer* pointers, StreamHandle stream) const = 0;
  // True if the library may read what that argument points to before the work in front of the call has ended.
  virtual bool readsAhead(size_t argument) const {
    (void)argument;
    return false;
  }
};

// A prepared kernel. A run allocates no memory of the device.
class Launches final : public kernels::Prepared {
 public:
  explicit Launches(const CudaDevice& device) : device_(device) {}

  void add(const Source& source, const char* function, const Geometry& geometry, Arguments arguments);
  // A call of a library; none of the arguments is a value.
  void add(std::shared_ptr<const StreamCall> call, Arguments arguments);
  // Memory for the launches between each other; returns where it begins in the scratch memory.
  int64_t reserve(size_t bytes);

  void complete() const override;
  void run(const kernels::RunArgs& args) const override;
  bool readsAhead(size_t input) const override;
  size_t scratchBytes() const override {
    return scratch_;
  }

 private:
  static constexpr size_t kMostArguments = 40, kMostMaps = 4;

  struct Step {
    Arguments arguments;
    std::optional<DeviceFunction> function;  // none: the call
    std::string name;
    Geometry geometry;
    std::shared_ptr<const StreamCall> call;
    bool is_fenced = false;
    bool begins_early = false;  // may begin before the kernel in front has ended: it waits for that itself

    bool readsAhead(Arguments::Kind kind, size_t index) const;
  };

  const CudaDevice& device_;
  std::vector<Step> steps_;
  size_t scratch_ = 0;
  mutable std::once_flag is_complete_;
  mutable std::vector<FunctionHandle> functions_;  // by step, from complete() on
};

// The device of a problem of this backend.
const CudaDevice& deviceOf(const device::Device* device);

}  // namespace torchtrt::cuda
