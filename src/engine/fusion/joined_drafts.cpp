#include "engine/fusion/joined_drafts.h"

#include <algorithm>
#include <utility>

namespace torchtrt::engine {

void joinDrafts(std::vector<Place>& places, std::vector<Draft>& drafts, const std::function<size_t(size_t)>& end_of,
                const std::function<Draft(size_t, size_t)>& joined) {
  std::vector<Draft> kept;
  std::vector<size_t> numbers(drafts.size());  // of the action that a draft becomes a part of
  for (size_t begin = 0; begin < drafts.size();) {
    const size_t end = end_of(begin);
    std::fill(numbers.begin() + static_cast<ptrdiff_t>(begin), numbers.begin() + static_cast<ptrdiff_t>(end),
              kept.size());
    kept.push_back(end - begin > 1 ? joined(begin, end) : std::move(drafts[begin]));
    begin = end;
  }
  for (Place& place : places) {
    if (place.written_by != kNever) {
      place.written_by = numbers[place.written_by];
    }
    if (place.last_use != kNever && !numbers.empty()) {
      place.last_use = numbers[place.last_use];
    }
  }
  drafts = std::move(kept);
}

bool isReadWithin(const std::vector<Draft>& drafts, size_t begin, size_t end, int32_t tensor, int32_t reads) {
  int32_t found = 0;
  for (size_t i = begin; i < end; ++i) {
    found += static_cast<int32_t>(std::count(drafts[i].inputs.begin(), drafts[i].inputs.end(), tensor));
  }
  return found == reads;
}

}  // namespace torchtrt::engine
