#include "partitioning/partition.h"

#include <sstream>

namespace torchtrt::partitioning {

const char* toString(Target target) {
  return target == Target::kEngine ? "Engine" : "Torch";
}

std::string print(const Partition& partition) {
  std::ostringstream out;
  for (size_t i = 0; i < partition.segments.size(); ++i) {
    const Segment& segment = partition.segments[i];
    out << "Segment Block @" << i << ":\n  Target: " << toString(segment.target) << "\n  Reason: " << segment.reason
        << "\n  Graph: " << segment.graph->toString(/*print_source_locations=*/false);
  }
  return out.str();
}

}  // namespace torchtrt::partitioning
