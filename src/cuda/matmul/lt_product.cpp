#include "cuda/matmul/lt_product.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/logging.h"

namespace torchtrt::cuda {

namespace {

constexpr uint32_t kAligned = 16;  // bytes: where operands of an engine begin, and what the fastest algorithms ask for
constexpr uint64_t kMostWorkspace = uint64_t{32} << 20;

int typeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return lt::kFloat64;
    case DType::kFloat16:
      return lt::kFloat16;
    case DType::kBFloat16:
      return lt::kBFloat16;
    default:
      TORCHTRT_CHECK(dtype == DType::kFloat32, "a matrix multiplication of " << toString(dtype) << " by cuBLASLt");
      return lt::kFloat32;
  }
}

int computeType(const LtProblem& problem) {
  if (problem.out == DType::kFloat64) {
    return lt::kComputeFloat64;
  }
  return problem.tf32 && problem.in == DType::kFloat32 ? lt::kComputeTf32 : lt::kComputeFloat32;
}

// Of a device, made when it is first asked for and never destroyed. Threads may share it. Null where the library does
// not start: it may be too new for the driver.
lt::Handle handleOf(const CudaDevice& device, const CublasLt& api) {
  static auto* const mutex = new std::mutex;
  static auto* const handles = new std::map<std::pair<const CublasLt*, ContextHandle>, lt::Handle>;
  const std::lock_guard lock(*mutex);
  const auto [place, is_new] = handles->emplace(std::pair(&api, device.context()), nullptr);
  if (is_new) {
    if (const lt::Status status = api.create(&place->second); status != lt::kSuccess) {
      place->second = nullptr;
      TORCHTRT_LOG(kWARNING, "cuBLASLt does not start ("
                                 << api.statusText(status)
                                 << "): matrix multiplications on the GPU are slower without it");
    }
  }
  return place->second;
}

}  // namespace

std::shared_ptr<LtProduct> LtProduct::make(const CudaDevice& device, const CublasLt& api, const LtProblem& problem) {
  const ContextScope scope(device);
  std::shared_ptr<LtProduct> product(new LtProduct(device, api, problem));
  const bool has_both = product->handle_ != nullptr && product->propose(kAligned, product->aligned_) &&
                        product->propose(static_cast<uint32_t>(sizeOf(problem.in)), product->unaligned_);
  return has_both ? product : nullptr;
}

LtProduct::LtProduct(const CudaDevice& device, const CublasLt& api, const LtProblem& problem)
    : api_(api),
      problem_(problem),
      handle_(handleOf(device, api)),
      a_(matrix(problem.in, problem.a)),
      b_(matrix(problem.in, problem.b)),
      c_(matrix(problem.out, problem.adds_c ? problem.c : problem.d)),
      d_(matrix(problem.out, problem.d)),
      operation_(problem.adds_bias ? Owned(nullptr, nullptr) : operation(nullptr)) {}

LtProduct::Owned LtProduct::matrix(DType dtype, const LtMatrix& matrix) const {
  constexpr const char* kPurpose = "describing a matrix to cuBLASLt";
  lt::Matrix made = nullptr;
  check(api_,
        api_.createMatrix(&made, typeOf(dtype), static_cast<uint64_t>(matrix.rows),
                          static_cast<uint64_t>(matrix.columns), matrix.leading),
        kPurpose);
  Owned owned(made, api_.destroyMatrix);
  const auto batches = static_cast<int32_t>(problem_.batches);
  check(api_, api_.setMatrix(made, lt::kMatrixBatches, &batches, sizeof(batches)), kPurpose);
  check(api_, api_.setMatrix(made, lt::kMatrixBatchStep, &matrix.batch_step, sizeof(matrix.batch_step)), kPurpose);
  return owned;
}

LtProduct::Owned LtProduct::operation(const void* bias) const {
  constexpr const char* kPurpose = "describing a matrix multiplication to cuBLASLt";
  const bool is_double = problem_.out == DType::kFloat64;
  lt::Operation made = nullptr;
  check(api_, api_.createOperation(&made, computeType(problem_), is_double ? lt::kFloat64 : lt::kFloat32), kPurpose);
  Owned owned(made, api_.destroyOperation);
  const auto set = [&](int attribute, const auto& value) {
    check(api_, api_.setOperation(made, attribute, &value, sizeof(value)), kPurpose);
  };
  set(lt::kOperationTransposeA, int32_t{problem_.transpose_a ? lt::kTransposed : 0});
  set(lt::kOperationTransposeB, int32_t{problem_.transpose_b ? lt::kTransposed : 0});
  const uint32_t epilogue = problem_.activation | (problem_.adds_bias ? lt::kEpilogueBias : 0);
  set(lt::kOperationEpilogue, epilogue == 0 ? lt::kEpilogueNone : epilogue);
  if (problem_.adds_bias) {
    set(lt::kOperationBias, bias);
  }
  return owned;
}

bool LtProduct::propose(uint32_t alignment, lt::Proposal& proposal) const {
  constexpr const char* kPurpose = "asking cuBLASLt for an algorithm";
  lt::Preference made = nullptr;
  check(api_, api_.createPreference(&made), kPurpose);
  const Owned preference(made, api_.destroyPreference);
  const auto prefer = [&](int attribute, const auto& value) {
    check(api_, api_.setPreference(made, attribute, &value, sizeof(value)), kPurpose);
  };
  prefer(lt::kPreferWorkspace, kMostWorkspace);
  prefer(lt::kPreferReductions, problem_.choice.splits ? lt::kReduceInWorkspace : lt::kReduceNothing);
  for (int operand = 0; operand < 4; ++operand) {
    prefer(lt::kPreferAlignmentOfA + operand, alignment);
  }
  // The library looks at how the address of a bias is aligned, not at what is there.
  const Owned with_bias = problem_.adds_bias ? operation(reinterpret_cast<const void*>(uintptr_t{alignment}))  // NOLINT
                                             : Owned(nullptr, nullptr);
  const size_t place = problem_.choice.place;
  std::vector<lt::Proposal> proposals(place + 1);
  int count = 0;
  const lt::Status status =
      api_.propose(handle_, with_bias ? with_bias.get() : operation_.get(), a_.get(), b_.get(), c_.get(), d_.get(),
                   made, static_cast<int>(proposals.size()), proposals.data(), &count);
  proposal = proposals[place];
  return status == lt::kSuccess && static_cast<size_t>(count) > place && proposal.status == lt::kSuccess;
}

size_t LtProduct::workspaceBytes() const {
  return cuda::workspaceBytes(std::max(aligned_.workspace_bytes, unaligned_.workspace_bytes));
}

void LtProduct::run(const DevicePointer* pointers, StreamHandle stream) const {
  enum : size_t { kA, kB, kC, kD, kBias, kWorkspace };
  const auto at = [&](size_t index) { return reinterpret_cast<void*>(pointers[index]); };
  const DevicePointer all = pointers[kA] | pointers[kB] | pointers[kC] | pointers[kD] | pointers[kBias];
  const lt::Proposal& proposal = all % kAligned == 0 ? aligned_ : unaligned_;
  const double factors[] = {1, problem_.adds_c ? 1.0 : 0.0};
  const float float_factors[] = {1, problem_.adds_c ? 1.0F : 0.0F};
  const bool is_double = problem_.out == DType::kFloat64;
  const auto factor = [&](size_t index) {
    return is_double ? static_cast<const void*>(&factors[index]) : &float_factors[index];
  };
  const Owned with_bias = problem_.adds_bias ? operation(at(kBias)) : Owned(nullptr, nullptr);
  check(api_,
        api_.multiply(handle_, with_bias ? with_bias.get() : operation_.get(), factor(0), at(kA), a_.get(), at(kB),
                      b_.get(), factor(1), at(kC), c_.get(), at(kD), d_.get(), &proposal.algorithm,
                      workspaceAt(pointers[kWorkspace], proposal.workspace_bytes), proposal.workspace_bytes, stream),
        "a matrix multiplication on the GPU");
}

}  // namespace torchtrt::cuda
