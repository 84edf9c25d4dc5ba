// Neighbouring pointwise steps over tensors that lie alike become one action: pieces of a few thousand elements go
// through all of them while they are in the cache, and what only these steps read is never stored. Steps that reduce or
// normalize rows are members, too, where a piece can be whole rows. Private to engine.
#pragma once

#include <vector>

#include "engine/loading/model.h"
#include "engine/schedule/drafts.h"

namespace torchtrt::engine {

// Replaces the drafts of each group by one, and numbers the actions anew. Does nothing where the rule is switched off.
void fusePointwiseGroups(const Model& model, std::vector<Place>& places, std::vector<Draft>& drafts);

}  // namespace torchtrt::engine
