// Network -> Plan, one to one: layers become steps or, where only the shape changes, views. Memory orders are set by
// then. Private to this folder.
#pragma once

#include "builder/builder.h"

namespace torchtrt::builder {

// Layers that no output needs are left out. Bytes are a function of the network alone.
plan::Plan emitPlan(const network::Network& network);

}  // namespace torchtrt::builder
