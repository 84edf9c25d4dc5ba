// Convolutions to few outputs, also as the phases of a deconvolution: what is packed once, and how it runs on one set
// of shapes.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "cpu/convolution/geometry.h"

namespace torchtrt::kernels::convolution {

struct PackedFewOutputs;

// weight(output, channel, tap)
std::shared_ptr<const PackedFewOutputs> packFewOutputs(const Geometry& geometry,
                                                       const std::function<float(int64_t, int64_t, int64_t)>& weight);
size_t bytesOf(const PackedFewOutputs& packed);

std::unique_ptr<Prepared> prepareFewOutputs(std::shared_ptr<const PackedFewOutputs> packed, const ShapeSet& shapes);

}  // namespace torchtrt::kernels::convolution
