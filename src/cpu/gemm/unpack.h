// The way back from a packed matrix to the plain one, whose bits the panels hold unchanged.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>

#include "cpu/gemm/packed_gemm.h"

namespace torchtrt::kernels::gemm {

// Row k of the plain matrix is row(k)[n * column_stride] for n < columns, as PackedB was told.
template <typename T>
void unpack(const PackedBOf<T>& b, int64_t column_stride, const std::type_identity_t<std::function<T*(int64_t)>>& row,
            int threads);

}  // namespace torchtrt::kernels::gemm
