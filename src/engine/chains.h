// Neighbouring pointwise steps over tensors that lie alike become one action: pieces of a few thousand elements go
// through all of them while they are in the cache, and what only these steps read is never stored. Steps that reduce or
// normalize rows are members, too, where a piece can be whole rows. Private to this folder.
#pragma once

#include <vector>

#include "engine/drafts.h"
#include "engine/model.h"

namespace torchtrt::engine {

// Numbers the actions anew.
void joinChains(const Model& model, std::vector<Place>& places, std::vector<Draft>& drafts);

}  // namespace torchtrt::engine
