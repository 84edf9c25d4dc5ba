// Convolutions to few outputs, also as the phases of a deconvolution: what is packed once, and how it runs on one set
// of shapes.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "cpu/convolution/geometry.h"

namespace torchtrt::kernels::convolution {

struct PackedNarrow;

// Whether the convolution has few enough outputs and enough channels to be faster here than as a product.
bool isWorthNarrow(const Geometry& geometry);

// weight(output, channel, tap)
std::shared_ptr<const PackedNarrow> packNarrow(const Geometry& geometry,
                                               const std::function<float(int64_t, int64_t, int64_t)>& weight);
size_t bytesOf(const PackedNarrow& packed);

std::unique_ptr<Prepared> prepareNarrow(std::shared_ptr<const PackedNarrow> packed, const ShapeSet& shapes);

}  // namespace torchtrt::kernels::convolution
