#include "cpu/storage/dense.h"

#include "base/align.h"

namespace torchtrt::kernels {
namespace {

bool isStoredAsComputed(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kInt64;
}

bool isRowMajor(const TensorDesc& desc) {
  int64_t stride = 1;
  for (size_t axis = desc.dims.size(); axis-- > 0;) {
    if (desc.dims[axis] != 1 && desc.strides[axis] != stride) {
      return false;
    }
    stride *= desc.dims[axis];
  }
  return true;
}

}  // namespace

DenseOperand::DenseOperand(const TensorDesc& desc)
    : loop_(desc.dims, {denseStrides(desc.dims), desc.strides}),
      dtype_(desc.dtype),
      in_place_(isStoredAsComputed(desc.dtype) && isRowMajor(desc)),
      scratch_bytes_(in_place_ ? 0 : alignUp(static_cast<size_t>(loop_.count()) * computeSize(desc.dtype))) {}

}  // namespace torchtrt::kernels
