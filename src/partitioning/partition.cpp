#include "partitioning/partition.h"

#include <sstream>

namespace torchtrt::partitioning {

namespace {

void printSegments(std::ostream& out, const std::vector<Segment>& segments, const std::string& number) {
  for (size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    const std::string name = number + std::to_string(i);
    out << "Segment Block @" << name << ":\n  Target: " << toString(segment.target)
        << "\n  Graph: " << segment.graph->toString(/*print_source_locations=*/false);
    for (size_t block = 0; block < segment.blocks.size(); ++block) {
      printSegments(out, segment.blocks[block], name + "." + std::to_string(block) + ".");
    }
  }
}

void collect(const std::vector<Segment>& segments, Target target, std::vector<const Segment*>& found) {
  for (const Segment& segment : segments) {
    for (const std::vector<Segment>& block : segment.blocks) {
      collect(block, target, found);
    }
    if (segment.target == target) {
      found.push_back(&segment);
    }
  }
}

}  // namespace

const char* toString(Target target) {
  return target == Target::kEngine ? "Engine" : "Torch";
}

std::string print(const Partition& partition) {
  std::ostringstream out;
  printSegments(out, partition.segments, "");
  return out.str();
}

std::vector<const Segment*> segmentsOf(const std::vector<Segment>& segments, Target target) {
  std::vector<const Segment*> found;
  collect(segments, target, found);
  return found;
}

}  // namespace torchtrt::partitioning
