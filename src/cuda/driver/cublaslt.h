// The functions of cuBLASLt that matrix products call, as a table: tests put others in their place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cuda/driver/driver.h"
#include "torchtrt/types.h"

namespace torchtrt::cuda {

// The library's handles, codes and attributes, as its ABI has them.
namespace lt {

using Status = int;
inline constexpr Status kSuccess = 0;
inline constexpr Status kOutOfMemory = 3;
using Handle = void*;
using Operation = void*;
using Matrix = void*;
using Preference = void*;

struct Algorithm {
  uint64_t data[8];
};
// The library's proposal for a product.
struct Proposal {
  Algorithm algorithm;
  size_t workspace_bytes;
  Status status;
  float waves;
  int reserved[4];
};

inline constexpr int kFloat32 = 0, kFloat64 = 1, kFloat16 = 2, kBFloat16 = 14;  // of elements, and of alpha and beta
inline constexpr int kComputeFloat32 = 68, kComputeFloat64 = 70, kComputeTf32 = 77;
inline constexpr int kTransposed = 1;
inline constexpr int kOperationTransposeA = 3, kOperationTransposeB = 4, kOperationEpilogue = 7, kOperationBias = 8;
inline constexpr int kMatrixBatches = 5, kMatrixBatchStep = 6;
inline constexpr int kPreferWorkspace = 1, kPreferReductions = 3, kPreferAlignmentOfA = 5;  // of B, C and D behind it
// Partial sums of a split product are added up in the workspace, in a fixed order and in full precision.
inline constexpr uint32_t kReduceNothing = 0, kReduceInWorkspace = 2;
// Epilogues are flags; none has a value of its own.
inline constexpr uint32_t kEpilogueNone = 1, kEpilogueBias = 4, kEpilogueGelu = 32;

}  // namespace lt

// F(member, symbol, signature)
#define TORCHTRT_CUBLASLT_FUNCTIONS(F)                                                                             \
  F(create, cublasLtCreate, lt::Status (*)(lt::Handle*))                                                           \
  F(statusText, cublasLtGetStatusString, const char* (*)(lt::Status))                                              \
  F(createOperation, cublasLtMatmulDescCreate, lt::Status (*)(lt::Operation*, int, int))                           \
  F(destroyOperation, cublasLtMatmulDescDestroy, lt::Status (*)(lt::Operation))                                    \
  F(setOperation, cublasLtMatmulDescSetAttribute, lt::Status (*)(lt::Operation, int, const void*, size_t))         \
  F(createMatrix, cublasLtMatrixLayoutCreate, lt::Status (*)(lt::Matrix*, int, uint64_t, uint64_t, int64_t))       \
  F(destroyMatrix, cublasLtMatrixLayoutDestroy, lt::Status (*)(lt::Matrix))                                        \
  F(setMatrix, cublasLtMatrixLayoutSetAttribute, lt::Status (*)(lt::Matrix, int, const void*, size_t))             \
  F(createPreference, cublasLtMatmulPreferenceCreate, lt::Status (*)(lt::Preference*))                             \
  F(destroyPreference, cublasLtMatmulPreferenceDestroy, lt::Status (*)(lt::Preference))                            \
  F(setPreference, cublasLtMatmulPreferenceSetAttribute, lt::Status (*)(lt::Preference, int, const void*, size_t)) \
  F(propose, cublasLtMatmulAlgoGetHeuristic,                                                                       \
    lt::Status (*)(lt::Handle, lt::Operation, lt::Matrix, lt::Matrix, lt::Matrix, lt::Matrix, lt::Preference, int, \
                   lt::Proposal*, int*))                                                                           \
  F(multiply, cublasLtMatmul,                                                                                      \
    lt::Status (*)(lt::Handle, lt::Operation, const void*, const void*, lt::Matrix, const void*, lt::Matrix,       \
                   const void*, const void*, lt::Matrix, void*, lt::Matrix, const lt::Algorithm*, void*, size_t,   \
                   StreamHandle))

struct CublasLt {
#define TORCHTRT_DECLARE(member, symbol, ...) \
  using member##_type = __VA_ARGS__;          \
  member##_type member = nullptr;
  TORCHTRT_CUBLASLT_FUNCTIONS(TORCHTRT_DECLARE)
#undef TORCHTRT_DECLARE
};

// Opens the library at the first call; that touches no driver. Null, with the reason, where there is none.
const CublasLt* findCublasLt(std::string& reason);
// Lets tests replace the table: kernels that are created from now on call this one; with a reason, they find no
// library.
void useCublasLt(const CublasLt& table, const std::string& reason = "");

// Throws EngineError that says what failed, by the library's own words.
void check(const CublasLt& api, lt::Status status, std::string_view purpose);

}  // namespace torchtrt::cuda
