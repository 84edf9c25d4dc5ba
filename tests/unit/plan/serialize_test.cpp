#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "plan/plan.h"
#include "small_plan.h"
#include "support/engine_call.h"

namespace torchtrt::plan {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using torchtrt::testing::bytesOf;
using torchtrt::testing::errorOf;

std::string errorOfBytes(const std::string& bytes) {
  return errorOf([&] { parse(bytesOf(bytes), nullptr); });
}

TEST(SerializedPlan, ComesBackAsItWas) {
  const Plan plan = smallPlan();
  const std::string bytes = serialize(plan);
  const Plan back = parse(bytesOf(bytes), nullptr);
  EXPECT_TRUE(serialize(back) == bytes);
  ASSERT_EQ(back.weights.size(), 1U);
  EXPECT_EQ(std::memcmp(back.weights[0].data.get(), plan.weights[0].data.get(), 12), 0);
  EXPECT_EQ(back.steps[0].location, plan.steps[0].location);
}

TEST(SerializedPlan, KeepsHintsAndTheirMachine) {
  Plan plan = smallPlan();
  plan.steps[0].hint = "onednn";
  plan.timed_on = "torchtrt 0.1.0; threads 2";
  const Plan back = parse(bytesOf(serialize(plan)), nullptr);
  EXPECT_EQ(back.steps[0].hint, "onednn");
  EXPECT_EQ(back.timed_on, plan.timed_on);
  EXPECT_THAT(print(back), HasSubstr("timed on \"torchtrt 0.1.0; threads 2\"\n"));
}

TEST(SerializedPlan, KeepsThatBatchesDoNotShow) {
  Plan plan = smallPlan();
  EXPECT_THAT(print(plan), Not(HasSubstr("batch invariant")));
  plan.batch_invariant = true;
  const Plan back = parse(bytesOf(serialize(plan)), nullptr);
  EXPECT_TRUE(back.batch_invariant);
  EXPECT_THAT(print(back), HasSubstr("batch invariant\n"));
}

Binary binaryOf(const std::string& architecture, const std::string& code) {
  Binary binary{architecture, "key of " + code, code.size(), "", std::make_shared<const std::string>(code)};
  binary.hash = contentHash(binary);
  return binary;
}

TEST(SerializedPlan, KeepsBinariesAndTellsTheirSizeForEachArchitecture) {
  Plan plan = smallPlan();
  const std::string with_zero("a\0b", 3);
  plan.binaries = {binaryOf("sm_90", with_zero), binaryOf("sm_80", ""), binaryOf("sm_90", "code")};
  const std::string bytes = serialize(plan);  // the weights of the read plan lie in it
  const Plan back = parse(bytesOf(bytes), nullptr);
  ASSERT_EQ(back.binaries.size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(back.binaries[i].architecture, plan.binaries[i].architecture);
    EXPECT_EQ(back.binaries[i].key, plan.binaries[i].key);
    EXPECT_EQ(back.binaries[i].bytes, plan.binaries[i].bytes);
    EXPECT_EQ(back.binaries[i].hash, plan.binaries[i].hash);
    EXPECT_EQ(*back.binaries[i].code, *plan.binaries[i].code);
  }
  EXPECT_THAT(print(back), HasSubstr("binaries for \"sm_80\": 1, 0 bytes\nbinaries for \"sm_90\": 2, 7 bytes\n"));
  EXPECT_THAT(print(smallPlan()), ::testing::Not(HasSubstr("binaries")));
  EXPECT_TRUE(serialize(back) == bytes);
}

TEST(SerializedPlan, HashesABinaryWithWhatItIsFor) {
  const Binary binary = binaryOf("sm_90", "code");
  Binary other = binary;
  other.key = "key of something else";
  EXPECT_NE(contentHash(other), binary.hash);
  other = binary;
  other.architecture = "sm_80";
  EXPECT_NE(contentHash(other), binary.hash);
  other = binary;
  other.code = std::make_shared<const std::string>("coda");
  EXPECT_NE(contentHash(other), binary.hash);
}

// Binaries are a cache: a damaged one shows where it is used.
TEST(SerializedPlan, ReadsBinariesWhoseHashDoesNotMatch) {
  Plan plan = smallPlan();
  plan.binaries = {binaryOf("sm_90", "code")};
  plan.binaries[0].hash = "of something else";
  EXPECT_EQ(parse(bytesOf(serialize(plan)), nullptr).binaries[0].hash, "of something else");
}

TEST(SerializedPlan, IsAFunctionOfThePlan) {
  EXPECT_TRUE(serialize(smallPlan()) == serialize(smallPlan()));
}

TEST(SerializedPlan, KeepsEveryTypeOfAttribute) {
  Plan plan = smallPlan();
  Step& step = plan.steps[1];
  step.family = "plugin_v2";
  step.attributes = {};
  step.attributes.set("namespace", std::string("n"));
  step.attributes.set("type", std::string("t"));
  step.attributes.set("version", std::string("1"));
  step.attributes.set("a", true);
  step.attributes.set("b", int64_t{-7});
  step.attributes.set("c", 0.1);
  step.attributes.set("d", DType::kInt8);
  step.attributes.set("e", std::vector<int64_t>{1, -2});
  step.attributes.set("f", std::vector<double>{0.5, -0.25});
  step.dims.emplace_back("g", std::vector<Register>{0, 1});
  const Plan back = parse(bytesOf(serialize(plan)), nullptr);
  EXPECT_EQ(back.steps[1].attributes, step.attributes);
  EXPECT_EQ(back.steps[1].dims, step.dims);
}

TEST(SerializedPlan, WeightsAreAlignedWhereverTheBytesLie) {
  const std::string bytes = serialize(smallPlan());
  std::vector<char> memory(bytes.size() + 64);
  for (const size_t offset : {size_t{0}, size_t{1}, size_t{8}, size_t{33}}) {
    std::memcpy(memory.data() + offset, bytes.data(), bytes.size());
    const Plan plan = parse({reinterpret_cast<const std::byte*>(memory.data() + offset), bytes.size()}, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(plan.weights[0].data.get()) % 64, 0U);
    EXPECT_EQ(static_cast<const float*>(plan.weights[0].data.get())[2], 3.0F);
  }
}

TEST(SerializedPlan, AlignedBytesAreUsedInPlace) {
  const std::string bytes = serialize(smallPlan());
  auto memory =
      std::shared_ptr<std::byte>(static_cast<std::byte*>(std::aligned_alloc(64, (bytes.size() + 63) / 64 * 64)),
                                 [](std::byte* p) { std::free(p); });
  std::memcpy(memory.get(), bytes.data(), bytes.size());
  const Plan plan = parse({memory.get(), bytes.size()}, memory);
  const auto* data = static_cast<const std::byte*>(plan.weights[0].data.get());
  EXPECT_GE(data, memory.get());
  EXPECT_LT(data, memory.get() + bytes.size());
  EXPECT_GT(memory.use_count(), 1);
}

TEST(SerializedPlan, WeightsMayTravelBesideIt) {
  const Plan plan = smallPlan();
  const std::string bytes = serializeWithoutWeights(plan);
  EXPECT_EQ(parse(bytesOf(bytes), nullptr).weights[0].data, nullptr);
  const Plan back = parse(bytesOf(bytes), nullptr, plan.weights);
  EXPECT_EQ(static_cast<const float*>(back.weights[0].data.get())[1], 2.0F);
  EXPECT_TRUE(serialize(back) == serialize(plan));
}

TEST(SerializedPlan, OtherWeightsBesideItAreNoticed) {
  const std::string bytes = serializeWithoutWeights(smallPlan());
  const auto load = [&](const std::vector<Weight>& weights) {
    return errorOf([&] { parse(bytesOf(bytes), nullptr, weights); });
  };
  std::vector<Weight> weights = smallPlan().weights;
  weights.push_back(weights[0]);
  EXPECT_THAT(load(weights), HasSubstr("[E001] damaged plan: expected 1 weights beside it, got 2"));
  weights.pop_back();
  weights[0].bytes = 8;
  EXPECT_THAT(load(weights), HasSubstr("expected 12 bytes beside it for weight 0, got 8"));
  const std::vector<float> others = {1, 2, 4};
  weights[0].bytes = 12;
  weights[0].data = std::shared_ptr<const void>(std::shared_ptr<void>(), others.data());
  EXPECT_THAT(load(weights), HasSubstr("weight 0 is not what the plan was built with"));
  EXPECT_THAT(errorOf([&] { parse(bytesOf(serialize(smallPlan())), nullptr, weights); }),
              HasSubstr("it carries its weights itself"));
}

TEST(DamagedPlan, EveryTruncationIsNoticed) {
  const std::string bytes = serialize(smallPlan());
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THAT(errorOfBytes(bytes.substr(0, length)), HasSubstr("[E001]")) << "cut to " << length;
  }
  EXPECT_THAT(errorOfBytes(bytes + "x"), HasSubstr("[E001]"));
}

TEST(DamagedPlan, EveryFlippedBitThatMattersIsNoticed) {
  const std::string bytes = serialize(smallPlan());
  const std::string original = print(parse(bytesOf(bytes), nullptr));
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    std::string text;
    const std::string error = errorOf([&] { text = print(parse(bytesOf(flipped), nullptr)); });
    EXPECT_TRUE(!error.empty() || text == original) << "bit " << bit;  // padding may be anything
  }
}

TEST(ForeignPlan, SaysWhatItIs) {
  EXPECT_THAT(errorOfBytes("ftrt and then anything of NVIDIA's"),
              HasSubstr("[E002] this is an engine made by NVIDIA TensorRT"));
  EXPECT_THAT(errorOfBytes("ptrt"), HasSubstr("NVIDIA TensorRT"));
  EXPECT_THAT(errorOfBytes("PK\x03\x04 a zip file"), HasSubstr("starts with \"PK..\", expected \"TTRTPLAN\""));
  EXPECT_THAT(errorOfBytes(""), HasSubstr("it is empty"));
}

// Header fields: see format.h.
std::string withVersion(uint16_t major, uint16_t minor) {
  std::string bytes = serialize(smallPlan());
  std::memcpy(bytes.data() + 8, &major, 2);
  std::memcpy(bytes.data() + 10, &minor, 2);
  uint64_t graph_bytes = 0;
  std::memcpy(&graph_bytes, bytes.data() + 16, 8);
  std::memset(bytes.data() + 32, 0, 16);
  const Hash128 hash = hashBytes(bytes.data(), 64 + graph_bytes);
  std::memcpy(bytes.data() + 32, &hash.low, 8);
  std::memcpy(bytes.data() + 40, &hash.high, 8);
  return bytes;
}

TEST(PlanVersion, OlderMinorsLoad) {
  for (uint16_t minor = 0; minor <= kMinorVersion; ++minor) {
    EXPECT_EQ(errorOfBytes(withVersion(kMajorVersion, minor)), "") << minor;
  }
}

TEST(PlanVersion, ANewerMinorIsTooNew) {
  EXPECT_EQ(
      errorOfBytes(withVersion(kMajorVersion, kMinorVersion + 1)),
      "[E002] the plan is too new: it has format 1.6, this library reads 1.0 to 1.5\n"
      "  load it with the version of torchtrt that made it or a later one, or compile the module again with this one");
}

TEST(PlanVersion, AnotherMajorSaysWhichOneToUse) {
  const std::string error = errorOfBytes(withVersion(9, 2));
  EXPECT_THAT(error, HasSubstr("[E002] the plan has format 9.2, this library reads 1.x"));
  EXPECT_THAT(error, HasSubstr("load it with a torchtrt whose plan format is 9"));
}

TEST(PlanVersion, AnAttributeOfALaterMinorGetsItsDefault) {
  Plan plan = smallPlan();
  plan.steps[1].attributes.erase("alpha");
  EXPECT_EQ(parse(bytesOf(serialize(plan)), nullptr).steps[1].attributes.getDouble("alpha"), 0.0);
}

TEST(PlanVersion, AnUnknownFamilyIsNamed) {
  Plan plan = smallPlan();
  plan.steps[0].family = "teleport";
  EXPECT_THAT(errorOfBytes(serialize(plan)), HasSubstr("[E002] step 'elementwise0' is of family 'teleport'"));
}

}  // namespace
}  // namespace torchtrt::plan
