// Neighbouring pointwise steps of a device become one kernel, whose threads hand results on in registers. Groups of the
// CPU are those of pointwise_group.h. Private to engine.
#pragma once

#include <vector>

#include "engine/loading/model.h"
#include "engine/schedule/drafts.h"

namespace torchtrt::engine {

// Replaces the drafts of each group by one, and numbers the actions anew. Does nothing where the rule is switched off.
void composeMaps(const Model& model, std::vector<Place>& places, std::vector<Draft>& drafts);

}  // namespace torchtrt::engine
