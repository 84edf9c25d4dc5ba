#include "plan/onnx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string_view>

#include "plan/protobuf.h"
#include "plan/small_plan.h"

namespace torchtrt::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A message as it is read without its schema: for each field, numbers in decimal and everything else as bytes.
using Fields = std::map<int, std::vector<std::string>>;

uint64_t takeVarint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.at(0));
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) {
      return value;
    }
  }
}

Fields fieldsOf(std::string_view bytes) {
  Fields fields;
  while (!bytes.empty()) {
    const uint64_t key = takeVarint(bytes);
    std::string value;
    if ((key & 7) == 0) {
      value = std::to_string(static_cast<int64_t>(takeVarint(bytes)));
    } else {
      const size_t length = (key & 7) == 5 ? 4 : takeVarint(bytes);
      if (length > bytes.size()) {
        throw std::runtime_error("a field is longer than its message");
      }
      value = bytes.substr(0, length);
      bytes.remove_prefix(length);
    }
    fields[static_cast<int>(key >> 3)].push_back(value);
  }
  return fields;
}

// The values of a field in each of some messages.
std::vector<std::string> each(const std::vector<std::string>& messages, int field) {
  std::vector<std::string> values;
  for (const std::string& message : messages) {
    const Fields fields = fieldsOf(message);
    const auto found = fields.find(field);
    values.push_back(found == fields.end() ? "" : found->second.front());
  }
  return values;
}

// "[n, 3]" of a ValueInfoProto.
std::string shapeOf(const std::string& value) {
  const Fields tensor = fieldsOf(fieldsOf(fieldsOf(value).at(2).front()).at(1).front());
  Fields shape = fieldsOf(tensor.at(2).front());
  std::string text;
  for (const std::string& dim : shape[1]) {
    Fields fields = fieldsOf(dim);
    text += (text.empty() ? "" : ", ") + (fields[1].empty() ? fields.at(2).front() : fields[1].front());
  }
  return "[" + text + "]";
}

Fields graphOf(const std::string& model) {
  return fieldsOf(fieldsOf(model).at(7).front());
}

TEST(Protobuf, NumbersTextsAndMessages) {
  ProtoMessage inner;
  inner.add(1, int64_t{150});
  ProtoMessage message;
  message.add(2, inner);
  message.add(3, std::string_view("ab"));
  message.add(4, 1.0F);
  message.add(20, int64_t{-1});
  EXPECT_EQ(message.bytes(), std::string("\x12\x03\x08\x96\x01\x1a\x02"
                                         "ab\x25\x00\x00\x80\x3f\xa0\x01",
                                         16) +
                                 std::string(9, '\xff') + "\x01");
}

TEST(Onnx, HasTheStepsAsNodesOfItsOwnDomain) {
  const Plan plan = smallPlan();
  const std::string bytes = onnxOf("net.ts", std::vector<OnnxPart>{{&plan, {"vectors", "reference"}}}, false);
  const Fields model = fieldsOf(bytes);
  EXPECT_THAT(model.at(2), ElementsAre("torchtrt"));
  EXPECT_THAT(each(model.at(8), 1), ElementsAre("", "torchtrt"));
  Fields graph = graphOf(bytes);
  EXPECT_THAT(graph[2], ElementsAre("net.ts"));
  EXPECT_THAT(each(graph[1], 4), ElementsAre("elementwise", "activation", "view"));
  EXPECT_THAT(each(graph[1], 3), ElementsAre("elementwise0", "activation1", "z"));
  EXPECT_THAT(each(graph[1], 7), ElementsAre("torchtrt", "torchtrt", "torchtrt"));
  const Fields sum = fieldsOf(graph[1][0]);
  EXPECT_THAT(sum.at(1), ElementsAre("x", "w"));
  EXPECT_THAT(sum.at(6), ElementsAre(::testing::HasSubstr("model.py:12")));
  EXPECT_THAT(each(sum.at(5), 1), ::testing::Contains("implementation"));
  EXPECT_THAT(each(sum.at(5), 4), ::testing::Contains("vectors"));
}

TEST(Onnx, DimsThatVaryHaveNames) {
  const Plan plan = smallPlan();
  Fields graph = graphOf(onnxOf("net", std::vector<OnnxPart>{{&plan, {}}}, false));
  EXPECT_THAT(each(graph[11], 1), ElementsAre("x"));
  EXPECT_EQ(shapeOf(graph[11][0]), "[n, 3]");
  EXPECT_THAT(each(graph[12], 1), ElementsAre("y", "z"));
  EXPECT_EQ(shapeOf(graph[12][1]), "[3*n]");
}

TEST(Onnx, LargeWeightsAreWrittenOnRequest) {
  testing::PlanMaker make("large");
  const int32_t x = make.input("x", make.dims({100}));
  make.output("y", make.elementwise("sum", x, make.floats("w", {100}, std::vector<float>(100, 2.0F))));
  fillDefaults(make.plan());
  const Plan plan = make.plan();
  const auto weight = [&](bool has_weights) {
    return fieldsOf(graphOf(onnxOf("net", std::vector<OnnxPart>{{&plan, {}}}, has_weights))[5].at(0));
  };
  EXPECT_THAT(weight(false).at(1), ElementsAre("100"));
  EXPECT_EQ(weight(false).count(9), 0);
  EXPECT_THAT(weight(true).at(9).at(0), SizeIs(400));
}

TEST(Onnx, AnOutputThatIsAnInputOrAConstantHasANodeOfItsOwn) {
  testing::PlanMaker make("plain");
  const int32_t x = make.input("x", make.dims({2}));
  make.output("y", x);
  make.output("c", make.floats("w", {2}, {1, 2}));
  const Plan plan = make.plan();
  Fields graph = graphOf(onnxOf("net", std::vector<OnnxPart>{{&plan, {}}}, false));
  EXPECT_THAT(each(graph[1], 4), ElementsAre("output", "output"));
  EXPECT_THAT(each(graph[1], 1), ElementsAre("x", "w"));
  EXPECT_THAT(each(graph[12], 1), ElementsAre("y", "c"));
}

TEST(Onnx, PlansSideBySideShareNoNames) {
  Plan first = smallPlan();
  Plan second = smallPlan();
  first.name = "a";
  second.name = "b";
  Fields graph = graphOf(onnxOf("net", std::vector<OnnxPart>{{&first, {}}, {&second, {}}}, false));
  EXPECT_THAT(each(graph[11], 1), ElementsAre("a/x", "b/x"));
  EXPECT_THAT(each(graph[12], 1), ElementsAre("a/y", "a/z", "b/y", "b/z"));
  EXPECT_THAT(graphOf(onnxOf("net", {}, false))[1], IsEmpty());
}

}  // namespace
}  // namespace torchtrt::plan
