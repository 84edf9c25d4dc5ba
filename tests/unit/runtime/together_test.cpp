// Threads that call, prepare, save and copy one module at a time.
#include <gtest/gtest.h>

#include <atomic>
#include <sstream>

#include "base/logging.h"
#include "runtime/small_module.h"
#include "support/run_together.h"
#include "torchtrt/prepare.h"

namespace torchtrt::runtime {
namespace {

constexpr int64_t kWidth = 40;

std::string saved(const torch::jit::Module& module) {
  std::ostringstream stream;
  module.save(stream);
  return stream.str();
}

torch::jit::Module loaded(const std::string& bytes) {
  std::istringstream stream(bytes);
  return torch::jit::load(stream);
}

// x * w as PyTorch does it.
std::string productArchive() {
  torch::jit::Module module("Kept");
  module.define("def forward(self, x, w):\n  return [torch.matmul(x, w)]\n");
  return saved(module);
}

// Returns the saved module that compile() makes of x * w: the engine lets w go, and PyTorch runs it for other than four
// rows.
std::string savedProduct(const at::Tensor& w) {
  const auto engine = productEngine(w);
  engine->keep({productArchive(), {engine->weights()[0]}});
  return saved(moduleThatCalls(engine));
}

struct Product {
  at::Tensor w = at::randn({kWidth, kWidth});
  at::Tensor x = at::randn({4, kWidth});
  at::Tensor other = at::randn({3, kWidth});  // is not for the engine
  std::string bytes = savedProduct(w);
  at::Tensor y = loaded(bytes).forward({x}).toTensor();
  size_t size_again = saved(loaded(bytes)).size();

  // Returns how many of two answers are wrong.
  int check(torch::jit::Module& module) const {
    const at::NoGradGuard no_grad;
    const bool is_right = at::equal(module.forward({x}).toTensor(), y);
    return (is_right ? 0 : 1) + checkOther(module);
  }
  int checkOther(torch::jit::Module& module) const {
    return at::equal(module.forward({other}).toTensor(), at::matmul(other, w)) ? 0 : 1;
  }
};

// Mutes the warning of every module that falls back.
class Together : public ::testing::Test {
 protected:
  Together() : level_(logging::getReportableLevel()) {
    logging::setReportableLevel(logging::Level::kERROR);
  }
  ~Together() override {
    logging::setReportableLevel(level_);
  }

 private:
  logging::Level level_;
};

TEST_F(Together, FirstCallsAndPreparation) {
  const Product product;
  for (int round = 0; round < 10; ++round) {
    torch::jit::Module module = loaded(product.bytes);
    std::atomic<int> wrong = 0;
    const auto call = [&] { wrong += product.check(module); };
    const auto fall_back = [&] { wrong += product.checkOther(module); };
    const auto prepared = [&] {
      wrong += prepare(module) == 1 ? 0 : 1;
      wrong += product.check(module);
    };
    testing::runTogether({call, call, fall_back, prepared, prepared});
    EXPECT_EQ(wrong, 0);
  }
}

TEST_F(Together, CallsSavesAndCopies) {
  const Product product;
  torch::jit::Module module = loaded(product.bytes);
  std::atomic<int> wrong = 0;
  const auto call = [&] {
    for (int i = 0; i < 200; ++i) {
      wrong += product.check(module);
    }
  };
  const auto save = [&] {
    for (int i = 0; i < 10; ++i) {
      torch::jit::Module again = loaded(saved(module));
      wrong += product.check(again);
    }
  };
  const auto copy = [&] {
    for (int i = 0; i < 20; ++i) {
      torch::jit::Module again = module.deepcopy();
      wrong += product.check(again);
    }
  };
  testing::runTogether({call, call, save, copy, copy});
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(saved(module).size(), product.size_again) << "the weight is there once";
}

// The weight is held by nobody but those that restore it, and goes when the last of them drops it.
TEST_F(Together, SavesAloneRestoreTheWeight) {
  const Product product;
  const torch::jit::Module module = loaded(product.bytes);
  std::atomic<int> wrong = 0;
  const auto save = [&] {
    for (int i = 0; i < 10; ++i) {
      wrong += saved(module).size() == product.size_again ? 0 : 1;
    }
  };
  testing::runTogether({save, save, save});
  EXPECT_EQ(wrong, 0);
  torch::jit::Module again = loaded(saved(module));
  EXPECT_EQ(product.check(again), 0);
}

}  // namespace
}  // namespace torchtrt::runtime
