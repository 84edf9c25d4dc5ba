#include "cpu/storage/dense.h"

#include "base/align.h"
#include "cpu/storage/order.h"

namespace torchtrt::kernels {
namespace {

bool isStoredAsComputed(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kInt64;
}

}  // namespace

DenseOperand::DenseOperand(const TensorDesc& desc)
    : loop_(desc.dims, {denseStrides(desc.dims), desc.strides}),
      dtype_(desc.dtype),
      in_place_(isStoredAsComputed(desc.dtype) && isRowMajor(desc)),
      scratch_bytes_(in_place_ ? 0 : alignUp(static_cast<size_t>(loop_.count()) * computeSize(desc.dtype))) {}

}  // namespace torchtrt::kernels
