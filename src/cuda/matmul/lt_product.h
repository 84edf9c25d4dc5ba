// One strided batch of products by cuBLASLt: descriptors, and the algorithm that the library proposed for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cuda/driver/cublaslt.h"
#include "cuda/launch/launch.h"

namespace torchtrt::cuda {

// A matrix that lies column by column, `leading` elements from one column to the next.
struct LtMatrix {
  int64_t rows = 0, columns = 0, leading = 0;
  int64_t batch_step = 0;  // in elements; 0 repeats it
};

// Names one of the algorithms that the library proposes.
struct LtChoice {
  size_t place = 0;    // in the order of its heuristics
  bool splits = true;  // false: of those that add up each sum at once
};

// d = epilogue(a b + c + bias): c and d have one dtype; without c, its place is d's.
struct LtProblem {
  DType in = DType::kFloat32, out = DType::kFloat32;
  int64_t batches = 1;
  bool transpose_a = false, transpose_b = false;
  LtMatrix a, b, c, d;
  bool adds_c = false;
  bool adds_bias = false;   // one value for each row of d, next to each other
  uint32_t activation = 0;  // a flag of an epilogue, or none
  bool tf32 = false;        // lets float32 factors be rounded to TF32
  LtChoice choice;
};

// Its pointers: a, b, c, d, bias, workspace.
class LtProduct final : public StreamCall {
 public:
  // The same results at each run. Null if the library does not start, or computes no such product.
  static std::shared_ptr<LtProduct> make(const CudaDevice& device, const CublasLt& api, const LtProblem& problem);

  size_t workspaceBytes() const;
  void run(const DevicePointer* pointers, StreamHandle stream) const override;

 private:
  using Owned = std::unique_ptr<void, lt::Status (*)(void*)>;

  LtProduct(const CudaDevice& device, const CublasLt& api, const LtProblem& problem);
  Owned operation(const void* bias) const;
  Owned matrix(DType dtype, const LtMatrix& matrix) const;
  // Proposes for operands that begin at multiples of so many bytes. False if there is no proposal.
  bool propose(uint32_t alignment, lt::Proposal& proposal) const;

  const CublasLt& api_;
  LtProblem problem_;
  lt::Handle handle_;
  Owned a_, b_, c_, d_;
  Owned operation_;  // null with a bias, whose address is part of it
  lt::Proposal aligned_{}, unaligned_{};
};

}  // namespace torchtrt::cuda
