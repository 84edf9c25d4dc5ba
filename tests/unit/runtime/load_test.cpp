// torchtrt/load.h: what is checked before libtorch reads. Most of it: tests/python/test_load.py.
#include "torchtrt/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include <torch/script.h>

#include "runtime/archive.h"
#include "runtime/module_file.h"
#include "torchtrt/error.h"

namespace torchtrt {
namespace {

using Change = std::function<std::string(const std::string& name, const std::string& content)>;

std::string savedModule() {
  torch::jit::Module module("Net");
  module.register_parameter("weight", torch::ones({4, 5}), false);
  module.define("def forward(self, x):\n    return x + self.weight\n");
  std::ostringstream out;
  module.save(out);
  return out.str();
}

// The archive with other records, and checksums that are right.
std::string rewritten(const std::string& archive, const Change& change) {
  runtime::Records records = runtime::recordsOf(archive);
  for (auto& [name, content] : records) {
    content = change(name, content);
  }
  return runtime::archiveOf(records);
}

std::string errorOf(const std::string& archive) {
  std::istringstream in(archive);
  try {
    load(in);
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kPlanCorrupt);
    return error.what();
  }
  return "";
}

TEST(Load, GivesTheModule) {
  const std::string archive = rewritten(savedModule(), [](const auto&, const auto& content) { return content; });
  std::istringstream in(archive);
  torch::jit::Module module = load(in);
  EXPECT_TRUE(torch::equal(module.forward({torch::zeros({4, 5})}).toTensor(), torch::ones({4, 5})));
}

TEST(Load, RefusesATensorWhoseRecordIsCut) {
  const std::string cut = rewritten(savedModule(), [](const std::string& name, const std::string& content) {
    return name.starts_with("data/") ? content.substr(0, content.size() - 1) : content;
  });
  EXPECT_THAT(errorOf(cut), ::testing::HasSubstr("has 79 bytes, expected 80"));
}

TEST(Load, RefusesAValueThatIsLongerThanItsRecord) {
  const std::string cut = rewritten(savedModule(), [](const std::string& name, const std::string& content) {
    return name == "data.pkl" ? content.substr(0, content.size() - 1) : content;
  });
  EXPECT_THAT(errorOf(cut), ::testing::HasSubstr("in record 'data.pkl': it ends within a value"));
}

TEST(Code, MayNotLieTooDeep) {
  runtime::checkCode("def f(x: Tensor) -> Tensor:\n  # ((((\n  return torch.add(x, \"((((\", alpha=[1, 2, -1])\n");
  EXPECT_THROW(runtime::checkCode(std::string(3000, '(')), EngineError);
  EXPECT_THROW(runtime::checkCode("x = " + std::string(3000, '-') + "x"), EngineError);
  std::string chain = "x = y";
  for (int i = 0; i < 1500; ++i) {
    chain += " + f(a, b)";
  }
  EXPECT_THROW(runtime::checkCode(chain), EngineError);
}

}  // namespace
}  // namespace torchtrt
