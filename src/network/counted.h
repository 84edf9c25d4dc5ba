// Which tensors show their length only when they have been computed: outputs of a plugin that its attribute "counted"
// names. Their dims are those there is room for; of the rows, as many are there as the layer's last output says. They
// can be outputs of the network, which engines cut, and no layer reads them.
#pragma once

#include "torchtrt/export.h"
#include "torchtrt/network.h"

namespace torchtrt::network {

TORCHTRT_API bool isCounted(const Tensor& tensor);

}  // namespace torchtrt::network
