// Runs of neighbouring drafts that become one. Private to engine.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "engine/schedule/drafts.h"

namespace torchtrt::engine {

// Replaces runs of drafts by one each, and numbers the actions anew. `end_of(begin)` is behind the last draft of the
// run that begins there; `joined(begin, end)` makes one of a run of several.
void joinDrafts(std::vector<Place>& places, std::vector<Draft>& drafts, const std::function<size_t(size_t)>& end_of,
                const std::function<Draft(size_t, size_t)>& joined);

// True if the drafts [begin, end) alone read a tensor; `reads` are all reads of it.
bool isReadWithin(const std::vector<Draft>& drafts, size_t begin, size_t end, int32_t tensor, int32_t reads);

}  // namespace torchtrt::engine
