// The kernels on oneDNN share this: the engine, descriptors, fused operations and a way to run one primitive from many
// threads. It is empty in a build without oneDNN. It has no kernel list and knows no layers.
#pragma once

#ifndef TORCHTRT_NO_ONEDNN

#include <atomic>
#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cpu/simd/activation_rows.h"
#include "kernels/kernel.h"

namespace torchtrt::kernels::onednn {

static_assert(DNNL_VERSION_MAJOR == 3 && DNNL_VERSION_MINOR == 2, "headers of another oneDNN come first");

// The process's CPU engine. oneDNN's own cache of primitives is switched off: a plan owns its kernels, and their memory
// is ours to bound.
const dnnl::engine& engine();

// Describes float32, bfloat16, int32, int8 or uint8 with these strides.
dnnl::memory::desc describe(const std::vector<int64_t>& dims, const std::vector<int64_t>& strides,
                            DType dtype = DType::kFloat32);
// Describes a tensor in the layout that the primitive likes best.
dnnl::memory::desc describeAny(const std::vector<int64_t>& dims, DType dtype = DType::kFloat32);

// Refuses where the CPU, below the cap of TORCHTRT_MAX_ISA, has no instructions for products of bfloat16. oneDNN has
// float16 too, which was no faster than float32 on a CPU with AVX-512 FP16, and for some products a plain loop.
std::optional<Refusal> refuseBFloat16();

// Refuses where it has none for products of int8: without them oneDNN sums pairs of products in int16, and saturates.
std::optional<Refusal> refuseInt8();

// Appends an activation if oneDNN computes it as PyTorch does, NaN included: its relu, clip and sigmoid turn NaN into
// numbers. dtype: of the result; oneDNN's gelu is too coarse for float32. False if nothing was appended.
bool appendActivation(dnnl::post_ops& ops, const std::string& activation, double alpha, DType dtype);

// A scale in float32 for each channel of a result, and a shift behind it.
struct ChannelScale {
  int rank = 4;  // of the result, whose channels are axis 1
  int64_t channels = 0;
  bool has_shift = false;

  dnnl::memory::desc desc() const;
};

// The scale, the residual and the activation of a layer: what a primitive can fuse so that NaN stays NaN, and what is
// left to a second pass.
struct Fusion {
  dnnl::primitive_attr attributes;  // with user-mode scratch memory
  std::optional<ChannelScale> scale;
  ActivationRows rest;          // empty: all is fused
  bool has_activation = false;  // fused, in whatever form
  // 0, or the argument that brings `slope`, the activation's factor of what is negative.
  int slope_argument = 0;
  float slope = 0;
};
// residual: null or the descriptor of the tensor to add before the activation. dtype: of the result. The post-ops are
// scale, shift, residual and activation.
Fusion fuse(const std::string& activation, double alpha, double beta, const dnnl::memory::desc* residual, DType dtype,
            const std::optional<ChannelScale>& scale = std::nullopt);

// The same with the activation as a slope, for those that are one: relu and leaky_relu. Nothing for others.
std::optional<Fusion> fuseSlope(const std::string& activation, double alpha, const dnnl::memory::desc* residual,
                                const std::optional<ChannelScale>& scale = std::nullopt);

// oneDNN keeps the code of some convolutions ("brgconv") for good, where no code before was equal. Code that computes
// an activation holds an address of its own and equals none; without it, or with a slope, another height or width still
// makes other code.
bool keepsCode(const dnnl::primitive_desc_base& desc);

// oneDNN keeps about this many bytes for the shape of one primitive: its generated code and the pages around it.
inline constexpr size_t kCodeBytes = size_t{128} * 1024;

// Argument number of a post-op's second operand.
inline constexpr int postOpArgument(int index) {
  return DNNL_ARG_ATTR_MULTIPLE_POST_OP(index) | DNNL_ARG_SRC_1;
}

// A primitive with the descriptors of its arguments. Memory objects carry the addresses of a call, so each call takes a
// set of its own; sets are kept for the next call.
class Call {
 public:
  using Arguments = std::vector<std::pair<int, dnnl::memory::desc>>;
  Call(dnnl::primitive primitive, const Arguments& arguments, int threads);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // One address per argument, in their order.
  void run(std::span<const void* const> addresses) const;

 private:
  struct Slot;
  std::unique_ptr<Slot> makeSlot() const;

  dnnl::primitive primitive_;
  Arguments arguments_;
  int threads_;
  mutable std::atomic<Slot*> spare_ = nullptr;
};

// A call of a convolution or a product of matrices, with what is fused to it.
class FusedCall {
 public:
  // bias, residual: their layouts, null where there are none.
  FusedCall(dnnl::primitive primitive, const dnnl::primitive_desc_base& desc, const dnnl::memory::desc* bias,
            const dnnl::memory::desc* residual, Fusion fusion, int threads);

  // scratch: as long as the descriptor's scratchpad. Absent operands are not read.
  struct Addresses {
    const void* source;
    const void* weights;
    void* target;
    void* scratch;
    const void* bias = nullptr;  // behind a scale: its shift
    const void* residual = nullptr;
    const void* scale = nullptr;
  };
  // All but `rest` of the fusion.
  void run(const Addresses& addresses) const;

  const Fusion& fusion() const {
    return fusion_;
  }

 private:
  bool has_bias_, has_residual_;
  Fusion fusion_;
  std::unique_ptr<Call> call_;
};

// A constant in the layout that a primitive chose.
struct PackedConstant {
  dnnl::memory::desc desc;
  std::shared_ptr<void> data;
};
PackedConstant packConstant(const void* data, const dnnl::memory::desc& from, const dnnl::memory::desc& to,
                            int threads);

// Brings an operand of a call to the layout that a primitive chose, or its result back from there.
class Reorder {
 public:
  Reorder(const dnnl::memory::desc& from, const dnnl::memory::desc& to, int threads);

  size_t scratchBytes() const {
    return scratch_bytes_;
  }
  void run(const void* from, void* to, void* scratch) const;

 private:
  std::unique_ptr<Call> call_;
  size_t scratch_bytes_ = 0;
};

// True if oneDNN has only its plain loop for these descriptors, which is a hundred times as slow as its kernels.
bool isPlainLoop(const dnnl::primitive_desc_base& desc);

// Makes the code of a primitive that multiplies by oneDNN's gemm, once a process. oneDNN would make all of it in the
// first run, for 15 ms. Other primitives make theirs when they are made.
void makeGemmCode(const dnnl::primitive_desc_base& desc);

// Weights in the layout that oneDNN likes best for the shape to tune for and, where that layout would leave another
// shape the plain loop alone, in the layout that it likes for that shape as well.
class PackedWeights {
 public:
  using Shared = std::shared_ptr<const PackedConstant>;

  // Packs what lies as `given` for the shape to tune for.
  void pack(const void* data, const dnnl::memory::desc& given, const dnnl::memory::desc& layout, int threads);
  const Shared& tuned() const {
    return tuned_;
  }
  // True if every bit of the given weights is still there. restore() writes them in the layout that was given; `what`
  // names the layer for errors.
  bool restores() const;
  void restore(void* to, int threads, const char* what) const;
  // Returns the weights in another layout: packed again, or those that a caller before packed and somebody still holds.
  // `made` says which.
  Shared in(const dnnl::memory::desc& layout, int threads, bool& made) const;

 private:
  dnnl::memory::desc given_;
  Shared tuned_;
  mutable std::mutex mutex_;
  mutable std::vector<std::weak_ptr<const PackedConstant>> others_;
};

// Applies the activation in place over a dense tensor of float32, float16 or bfloat16.
void applyRows(const ActivationRows& rows, DType dtype, void* values, int64_t count, int threads);

// EngineError for out of memory, InternalError for the rest; `what` names the layer.
[[noreturn]] void rethrow(const dnnl::error& error, const char* what);

}  // namespace torchtrt::kernels::onednn

#endif  // TORCHTRT_NO_ONEDNN
