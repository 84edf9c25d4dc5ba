// A convolution whose windows are long runs of a line, as those of a filter bank over a signal: a matrix product whose
// rows overlap in the image. Its depth is cut into parts, so that what is multiplied stays in the cache; no im2col.
#pragma once

#include <memory>

#include "cpu/convolution/gemm/implicit_gemm.h"

namespace torchtrt::kernels::convolution {

// Takes a reading whose runs are lines, without negative padding. With padding, the image is copied together with it.
template <typename T>
std::unique_ptr<Prepared> prepareLongWindows(const std::shared_ptr<const PackedConvolutionOf<T>>& packed,
                                             const ShapeSet& shapes);

}  // namespace torchtrt::kernels::convolution
