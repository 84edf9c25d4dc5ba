// Calibrators of what C++ programs have: ranges of batches, torch::data's loaders, and functions of their own.
#include "torchtrt/ptq.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/data.h>

#include "trtorch/trtorch.h"

namespace torchtrt {
namespace {

using ptq::Calibrator;
using ::testing::HasSubstr;
using Sizes = std::vector<int64_t>;

torch::jit::Module product() {
  at::manual_seed(0);
  torch::jit::Module module("Product");
  module.register_parameter("weight", at::randn({64, 128}), /*is_buffer=*/false);
  module.define("def forward(self, x):\n    return torch.relu(torch.matmul(x, self.weight))\n");
  module.eval();
  return module;
}

std::vector<at::Tensor> batches() {
  at::manual_seed(1);
  return {at::randn({32, 64}), at::randn({32, 64}), at::randn({32, 64})};
}

ts::CompileSpec spec(std::shared_ptr<const Calibrator> calibrator) {
  ts::CompileSpec spec(std::vector<Input>{Input(Sizes{32, 64})});
  spec.enabled_precisions = {DataType::kFloat, DataType::kChar};
  spec.ptq_calibrator = std::move(calibrator);
  return spec;
}

std::vector<Calibrator::Arguments> passOf(const Calibrator& calibrator) {
  std::vector<Calibrator::Arguments> result;
  const Calibrator::NextBatch next = calibrator.batches();
  while (auto batch = next()) {
    result.push_back(std::move(*batch));
  }
  return result;
}

std::string messageOf(const std::function<void()>& body) {
  try {
    body();
  } catch (const CompileError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

class Rows : public torch::data::Dataset<Rows> {
 public:
  torch::data::Example<> get(size_t index) override {
    return {rows_[static_cast<int64_t>(index)], at::zeros({1})};
  }
  std::optional<size_t> size() const override {
    return static_cast<size_t>(rows_.size(0));
  }

 private:
  at::Tensor rows_ = at::cat(batches());
};

auto loader() {
  return torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Rows().map(torch::data::transforms::Stack<>()), 32);
}

TEST(Calibration, TakesRangesOfTensorsAndOfVectors) {
  const auto of_tensors = ptq::make_int8_calibrator(batches());
  ASSERT_EQ(passOf(*of_tensors).size(), 3);
  EXPECT_TRUE(passOf(*of_tensors)[1].at(0).toTensor().equal(batches()[1]));
  const std::vector<std::vector<at::Tensor>> pairs = {{at::zeros(2), at::ones(2)}};
  const auto of_vectors = ptq::make_int8_calibrator(pairs, "file", true, ptq::CalibrationAlgo::kMINMAX_CALIBRATION);
  ASSERT_EQ(passOf(*of_vectors).at(0).size(), 2);
  EXPECT_EQ(of_vectors->cache_file, "file");
  EXPECT_TRUE(of_vectors->use_cache);
  EXPECT_EQ(of_vectors->algo, ptq::CalibrationAlgo::kMINMAX_CALIBRATION);
}

TEST(Calibration, TakesTheDataOfExamplesFromALoaderAgainAndAgain) {
  const auto calibrator = ptq::make_int8_calibrator(loader());
  for (int pass = 0; pass < 2; ++pass) {
    const auto all = passOf(*calibrator);
    ASSERT_EQ(all.size(), 3);
    ASSERT_EQ(all[2].size(), 1);
    EXPECT_TRUE(all[2][0].toTensor().equal(batches()[2]));
  }
}

TEST(Calibration, CompilesToInt8) {
  Report report;
  const torch::jit::Module module = product();
  torch::jit::Module compiled = ts::compile(module, spec(ptq::make_int8_calibrator(loader())), &report);
  ASSERT_TRUE(report.segments.at(0).calibration.has_value());
  const Report::Calibration& calibration = *report.segments[0].calibration;
  EXPECT_EQ(calibration.quantizedLayers(), 1);
  EXPECT_EQ(calibration.calls, 3);
  EXPECT_GT(calibration.error, 1e-5);
  EXPECT_LT(calibration.error, 0.05);
  EXPECT_THAT(report.summary(), HasSubstr("; int8: 1 of 1 layer, engines off by "));
  torch::jit::Module original = product();
  const at::Tensor expected = original.forward({batches()[0]}).toTensor();
  const at::Tensor got = compiled.forward({batches()[0]}).toTensor();
  EXPECT_LT((got - expected).norm().item<double>(), 0.05 * expected.norm().item<double>());
}

TEST(Calibration, TheOldSpellingTakesACalibratorForInt8) {
  trtorch::ExtraInfo info(std::vector<Sizes>{{32, 64}});
  info.op_precision = torch::kI8;
  info.ptq_calibrator = trtorch::ptq::make_int8_calibrator(loader());
  torch::jit::Module old = trtorch::CompileGraph(product(), info);
  torch::jit::Module compiled = ts::compile(product(), spec(ptq::make_int8_calibrator(batches())));
  EXPECT_TRUE(old.forward({batches()[0]}).toTensor().equal(compiled.forward({batches()[0]}).toTensor()));
}

TEST(Calibration, WhatACalibratorThrowsEndsTheCompile) {
  const auto calibrator = std::make_shared<Calibrator>();
  calibrator->batches = [] {
    return []() -> std::optional<Calibrator::Arguments> { throw std::out_of_range("gone"); };
  };
  EXPECT_THROW(ts::compile(product(), spec(calibrator)), std::out_of_range);
}

TEST(Calibration, SaysWhatIsWrongWithItsOptions) {
  const auto empty = std::make_shared<Calibrator>();
  EXPECT_THAT(messageOf([&] { ts::compile(product(), spec(empty)); }), HasSubstr("neither batches nor a cache file"));
  EXPECT_THAT(messageOf([&] { ts::compile(product(), spec(ptq::make_int8_calibrator(std::vector<at::Tensor>{}))); }),
              HasSubstr("the calibrator gives no batch"));
  EXPECT_THAT(messageOf([&] { ts::compile(product(), spec(ptq::make_int8_cache_calibrator("/no/such/file"))); }),
              HasSubstr("/no/such/file cannot be read"));
  auto targeted = spec(ptq::make_int8_cache_calibrator("/no/such/file"));
  targeted.accuracy_target = 0.1;
  EXPECT_THAT(messageOf([&] { ts::compile(product(), targeted); }), HasSubstr("no calibration batches to measure on"));
}

}  // namespace
}  // namespace torchtrt
