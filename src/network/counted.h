// Tensors whose length is data-dependent: outputs of a plugin that its attribute "counted" names. Their dims are those
// there is room for; the layer's last output gives the number of valid rows. They can be outputs of the network, which
// engines cut, and no layer reads them.
#pragma once

#include "torchtrt/export.h"
#include "torchtrt/network.h"

namespace torchtrt::network {

TORCHTRT_API bool isCounted(const Tensor& tensor);

}  // namespace torchtrt::network
