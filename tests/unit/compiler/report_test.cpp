#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torchtrt/compile.h"

namespace torchtrt {
namespace {

Report example() {
  Report report;
  report.module = "__torch__.Net.forward";
  report.phases = {{"lowering", 1.5}, {"building", 2.25}};
  Report::Segment engine{
      "net_engine", "Engine", "every node converts", 2, 2.5, 64, {{"relu_0", "activation", "net.py:3:4"}}};
  Report::Segment torch{"", "Torch", "puts \"collections\" together", 1, 0, 0, {}};
  report.segments = {engine, torch};
  report.nodes = {{"aten::relu", "Engine", "converts"}};
  return report;
}

TEST(Report, TextTellsSegmentsAndTimes) {
  EXPECT_EQ(example().toText(), R"(__torch__.Net.forward: 2 segments, compiled in 3.8 ms
  lowering             1.5 ms
  building             2.2 ms
segment 0: Engine, 2 nodes, every node converts
  net_engine: 2.5 ms, 64 bytes of weights
  1 step: 1 activation
segment 1: Torch, 1 node, puts "collections" together
)");
}

TEST(Report, JsonTellsAll) {
  EXPECT_EQ(
      example().toJson(),
      R"({"module": "__torch__.Net.forward", "milliseconds": 3.750, "phases": )"
      R"([{"name": "lowering", "milliseconds": 1.500}, {"name": "building", "milliseconds": 2.250}], "segments": )"
      R"([{"name": "net_engine", "target": "Engine", "reason": "every node converts", "nodes": 2, )"
      R"("milliseconds": 2.500, "memory_bytes": 64, "steps": [{"name": "relu_0", "family": "activation", )"
      R"("location": "net.py:3:4"}]}, {"name": "", "target": "Torch", "reason": "puts \"collections\" together", )"
      R"("nodes": 1, "milliseconds": 0.000, "memory_bytes": 0, "steps": []}], "nodes": )"
      R"([{"node": "aten::relu", "target": "Engine", "reason": "converts"}]})");
}

}  // namespace
}  // namespace torchtrt
