// A convolution by products over a padded copy of a small image: no tile has to look for borders, and the copy takes a
// fraction of the time they would. Not for large images, most of whose tiles touch no border.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "cpu/convolution/gemm/implicit_gemm.h"

namespace torchtrt::kernels::convolution {

template <typename T>
using PrepareProduct =
    std::function<std::unique_ptr<Prepared>(std::shared_ptr<const PackedConvolutionOf<T>>, const ShapeSet&)>;

enum class PaddedSize : uint8_t { kSmall, kAny };

// `prepare` is called with the convolution without padding and the shapes with the padded copy. Null where there is no
// padding, the image is larger than asked for, or `prepare` returns null.
template <typename T>
std::unique_ptr<Prepared> preparePadded(const PackedConvolutionOf<T>& packed, const ShapeSet& shapes,
                                        const PrepareProduct<T>& prepare, PaddedSize size = PaddedSize::kSmall);

}  // namespace torchtrt::kernels::convolution
