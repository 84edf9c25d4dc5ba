#include "runtime/recording/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <torch/csrc/jit/serialization/pickle.h>

#include "base/logging.h"
#include "runtime/execute.h"
#include "runtime/recording/record.h"
#include "runtime/small_engine.h"
#include "runtime/weight_set.h"
#include "torchtrt/load.h"

namespace torchtrt::runtime::recording {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Calls = Settings::Calls;

constexpr int64_t kWidth = 40;

std::string contentOf(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<at::Tensor> savedTensors(const fs::path& file) {
  const std::string bytes = contentOf(file);
  const c10::IValue saved = torch::jit::pickle_load({bytes.begin(), bytes.end()});
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& value : saved.toTupleRef().elements()) {
    tensors.push_back(value.toTensor());
  }
  return tensors;
}

// PyTorch's form of x * w, in which the planted fault is that w is twice as large.
std::string archiveOf(const std::string& body) {
  torch::jit::Module module("Kept");
  module.define("def forward(self, x, w):\n  return [" + body + "]\n");
  std::ostringstream stream;
  module.save(stream);
  return stream.str();
}

c10::intrusive_ptr<Engine> keepingEngine(const std::string& body) {
  auto engine = productEngine(at::randn({kWidth, kWidth}));
  engine->keep({archiveOf(body), {engine->weights()[0]}});
  return engine;
}

class RecorderTest : public ::testing::Test {
 protected:
  RecorderTest() : level_(logging::getReportableLevel()) {
    std::string name = (fs::temp_directory_path() / "torchtrt_recorder_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    settings_.folder = (folder_ / "records").string();
  }
  ~RecorderTest() override {
    stop();
    logging::setReportableLevel(level_);
    fs::remove_all(folder_);
  }

  // Those with a final name.
  std::vector<fs::path> records() const {
    std::vector<fs::path> found;
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(settings_.folder, none)) {
      if (entry.is_directory() && !entry.path().filename().string().starts_with('.')) {
        EXPECT_TRUE(fs::exists(entry.path() / kSummaryFile)) << "a record is complete when it has its name";
        found.push_back(entry.path());
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  static std::vector<at::Tensor> call(const c10::intrusive_ptr<Engine>& engine, int64_t rows = 4) {
    return executeEngine({at::arange(rows * 3).view({rows, 3}).to(at::kFloat)}, engine);
  }

  fs::path folder_;
  Settings settings_;
  logging::Level level_;
};

TEST_F(RecorderTest, KeepsTheModuleInputsAndOutputsOfTheFirstCalls) {
  settings_.number = 2;
  start(settings_);
  const auto engine = smallEngine();
  const at::Tensor x = at::randn({4, 3});
  const at::Tensor y = executeEngine({x}, engine).at(0);
  call(engine);
  call(engine);
  ASSERT_THAT(records(), SizeIs(2));
  const fs::path record = records()[0];
  const fs::path of_x = at::equal(savedTensors(record / kInputsFile).at(0), x) ? record : records()[1];
  EXPECT_TRUE(at::equal(savedTensors(of_x / kInputsFile).at(0), x));
  EXPECT_TRUE(at::equal(savedTensors(of_x / kOutputsFile).at(0), y));
  EXPECT_THAT(contentOf(of_x / kSummaryFile), HasSubstr("\"engine\": \"small\""));
  EXPECT_THAT(contentOf(of_x / kSummaryFile), HasSubstr("\"shape\": [4, 3]"));
  EXPECT_FALSE(fs::exists(of_x / kErrorFile));
  torch::jit::Module module = load((of_x / kModuleFile).string());
  EXPECT_THAT(enginesIn(module), SizeIs(1));
  EXPECT_TRUE(at::equal(module.forward({x}).toTensor(), y));
  EXPECT_EQ(fs::hard_link_count(record / kModuleFile), 2U) << "the module is on the disk once";
}

TEST_F(RecorderTest, KeepsEveryNthCallOfAnEngine) {
  settings_.calls = Calls::kEvery;
  settings_.number = 3;
  start(settings_);
  const auto engine = smallEngine();
  for (int i = 0; i < 7; ++i) {
    call(engine);
  }
  EXPECT_THAT(records(), SizeIs(3));
}

TEST_F(RecorderTest, KeepsCallsThatFail) {
  settings_.calls = Calls::kFailing;
  start(settings_);
  const auto engine = smallEngine();
  call(engine);
  EXPECT_THAT(records(), IsEmpty());
  EXPECT_ANY_THROW(call(engine, 9));
  ASSERT_THAT(records(), SizeIs(1));
  EXPECT_THAT(contentOf(records()[0] / kErrorFile), HasSubstr("[E005]"));
  EXPECT_FALSE(fs::exists(records()[0] / kOutputsFile));
  EXPECT_EQ(savedTensors(records()[0] / kInputsFile).at(0).size(0), 9);
}

TEST_F(RecorderTest, KeepsTheFirstCallThatDisagreesWithPyTorch) {
  logging::setReportableLevel(logging::kERROR);
  settings_.calls = Calls::kWrong;
  start(settings_);
  const at::Tensor x = at::randn({4, kWidth});
  executeEngine({x}, keepingEngine("torch.matmul(x, w)"));
  EXPECT_THAT(records(), IsEmpty());
  const auto wrong = keepingEngine("torch.matmul(x, 2 * w)");
  executeEngine({x}, wrong);
  executeEngine({x}, wrong);
  ASSERT_THAT(records(), SizeIs(1));
  EXPECT_THAT(contentOf(records()[0] / kSummaryFile), HasSubstr("\"disagreement\": \"value 0: the largest difference"));
  EXPECT_FALSE(isOn()) << "one was asked for";
}

TEST_F(RecorderTest, LeavesValuesOutOfARedactedRecord) {
  settings_.is_redacted = true;
  settings_.calls = Calls::kFailing;
  start(settings_);
  EXPECT_ANY_THROW(executeEngine({at::full({9, 3}, 1234.5)}, smallEngine()));
  ASSERT_THAT(records(), SizeIs(1));
  std::vector<fs::path> files;
  for (const fs::directory_entry& file : fs::directory_iterator(records()[0])) {
    files.push_back(file.path().filename());
  }
  EXPECT_THAT(files, ::testing::ElementsAre(kSummaryFile));
  const std::string summary = contentOf(records()[0] / kSummaryFile);
  EXPECT_THAT(summary, HasSubstr("\"error\": \"[E005]\"")) << "a message may hold values";
  EXPECT_THAT(summary, HasSubstr("\"nan\": 0, \"min\": 1234.5, \"max\": 1234.5, \"mean\": 1234.5"));
}

TEST_F(RecorderTest, RedactedTensorsOfFewElementsHaveNoStatistics) {
  settings_.is_redacted = true;
  start(settings_);
  call(smallEngine());
  ASSERT_THAT(records(), SizeIs(1));
  EXPECT_THAT(contentOf(records()[0] / kSummaryFile), Not(HasSubstr("\"min\"")));
}

TEST_F(RecorderTest, CountsNanAndNamesInfinity) {
  start(settings_);
  at::Tensor x = at::zeros({8, 3});
  x[0][0] = std::numeric_limits<float>::quiet_NaN();
  x[1][1] = std::numeric_limits<float>::infinity();
  executeEngine({x}, smallEngine());
  ASSERT_THAT(records(), SizeIs(1));
  EXPECT_THAT(contentOf(records()[0] / kSummaryFile), HasSubstr("\"nan\": 1, \"min\": 0, \"max\": \"inf\""));
}

TEST_F(RecorderTest, AViewBringsNothingElseOfItsStorageAlong) {
  start(settings_);
  const at::Tensor large = at::zeros({100000, 3});
  executeEngine({large.slice(0, 5, 7)}, smallEngine());
  ASSERT_THAT(records(), SizeIs(1));
  EXPECT_LT(fs::file_size(records()[0] / kInputsFile), 10000U);
}

TEST_F(RecorderTest, KeepsNoMoreRecordsThanItMay) {
  settings_.number = 100;
  settings_.most_records = 3;
  start(settings_);
  const auto engine = smallEngine();
  for (int i = 0; i < 10; ++i) {
    call(engine);
  }
  EXPECT_THAT(records(), SizeIs(3));
  EXPECT_FALSE(isOn());
}

TEST_F(RecorderTest, KeepsNoMoreBytesThanItMay) {
  settings_.number = 100;
  settings_.most_bytes = 20000;
  start(settings_);
  const auto engine = smallEngine();
  for (int i = 0; i < 20; ++i) {
    call(engine);
  }
  EXPECT_THAT(records(), Not(IsEmpty()));
  uint64_t bytes = 0;
  for (const fs::path& record : records()) {
    for (const fs::directory_entry& file : fs::directory_iterator(record)) {
      bytes += file.path().filename() == kModuleFile ? 0 : file.file_size();
    }
  }
  EXPECT_LE(bytes + fs::file_size(records()[0] / kModuleFile), settings_.most_bytes);
}

TEST_F(RecorderTest, ThreadsRecordAtOnce) {
  settings_.number = 1000;
  settings_.most_records = 20;
  start(settings_);
  const auto engine = smallEngine();
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const at::Tensor x = at::full({1 + i, 3}, static_cast<double>(i));
      for (int round = 0; round < 10; ++round) {
        wrong += at::equal(executeEngine({x}, engine).at(0), smallAnswer(x)) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_THAT(records(), SizeIs(20));
  for (const fs::path& record : records()) {
    EXPECT_TRUE(
        at::equal(savedTensors(record / kOutputsFile).at(0), smallAnswer(savedTensors(record / kInputsFile).at(0))));
  }
}

TEST_F(RecorderTest, ProcessesKeepTheBoundTogether) {
  settings_.number = 1000;
  settings_.most_records = 10;
  const auto engine = smallEngine();
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    children.push_back(fork());
    if (children.back() == 0) {
      start(settings_);
      for (int round = 0; round < 10; ++round) {
        call(engine);
      }
      _exit(0);
    }
  }
  for (const pid_t child : children) {
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_THAT(records(), SizeIs(10));
}

TEST_F(RecorderTest, ACallGoesOnWhereNothingCanBeWritten) {
  settings_.folder = (folder_ / "file" / "records").string();
  std::ofstream(folder_ / "file") << "no folder";
  start(settings_);
  const auto engine = smallEngine();
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(at::equal(executeEngine({at::zeros({2, 3})}, engine).at(0), smallAnswer(at::zeros({2, 3}))));
  EXPECT_EQ(call(engine).size(), 1U);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("calls are not recorded: [C007] cannot write"));
  EXPECT_EQ(said.find("not recorded"), said.rfind("not recorded")) << "once";
}

TEST_F(RecorderTest, ALinkThatIsGoneIsWrittenAgain) {
  settings_.number = 2;
  start(settings_);
  const auto engine = smallEngine();
  call(engine);
  fs::remove_all(records().at(0));
  call(engine);
  ASSERT_THAT(records(), SizeIs(1));
  EXPECT_TRUE(fs::exists(records()[0] / kModuleFile));
}

TEST_F(RecorderTest, LeavesOutCallsThatNobodyAskedFor) {
  start(settings_);
  {
    const Pause pause;
    call(smallEngine());
  }
  EXPECT_THAT(records(), IsEmpty());
  call(smallEngine());
  EXPECT_THAT(records(), SizeIs(1));
}

TEST_F(RecorderTest, IsForItsOwnerAlone) {
  start(settings_);
  call(smallEngine());
  ASSERT_THAT(records(), SizeIs(1));
  EXPECT_EQ(fs::status(records()[0]).permissions(), fs::perms::owner_all);
}

}  // namespace
}  // namespace torchtrt::runtime::recording
