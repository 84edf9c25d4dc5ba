// Tells for which layers a kind of device has kernels. Layers without one run on the host, with copies.
#pragma once

#include <optional>

#include "kernels/backend.h"
#include "torchtrt/error.h"
#include "torchtrt/export.h"
#include "torchtrt/network.h"

namespace torchtrt::builder {

// Says why none of the backend's kernels takes a layer, with its dtypes and attributes, but the one that runs on the
// host; nothing if one does. Needs no device. The code is "plugin" for a plugin of which the backend knows nothing.
TORCHTRT_API std::optional<Refusal> refusalOfDevice(const network::Layer& layer, const kernels::Backend& backend);

}  // namespace torchtrt::builder
