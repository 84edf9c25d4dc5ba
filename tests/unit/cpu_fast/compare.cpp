#include "cpu_fast/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <thread>

#include "base/steps.h"
#include "cpu/storage/convert.h"
#include "cpu/threads/helpers.h"
#include "cpu/threads/thread_memory.h"
#include "kernels/kernel.h"
#include "kernels/problem_text.h"
#include "kernels/real_time.h"
#include "kernels/restores.h"
#include "support/call_watch.h"

namespace torchtrt::kernels {
namespace {

constexpr size_t kGuard = 64;           // bytes behind every output that must stay as they were
constexpr size_t kScratchGuard = 4096;  // the same of scratch memory, whose pieces are larger

struct alignas(64) Line {
  std::byte bytes[64];
};
using Buffer = std::vector<Line>;

Buffer makeBuffer(size_t bytes) {
  return Buffer((bytes + sizeof(Line) - 1) / sizeof(Line) + 1);
}

size_t bytesOf(const TensorDesc& desc) {
  return sizeOf(desc.dtype) *
         static_cast<size_t>(std::accumulate(desc.dims.begin(), desc.dims.end(), int64_t{1}, std::multiplies<>()));
}

float draw(std::mt19937& random, Values values, size_t i) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  static constexpr float kSpecials[] = {std::numeric_limits<float>::quiet_NaN(),
                                        kInfinity,
                                        -kInfinity,
                                        0.0F,
                                        -0.0F,
                                        1e-30F,
                                        -1e-30F,
                                        1e-40F,
                                        30.0F,
                                        -30.0F,
                                        88.0F,
                                        -88.0F,
                                        100.0F,
                                        -100.0F,
                                        1e10F,
                                        -1e10F,
                                        3e38F,
                                        -3e38F};
  if (values == Values::kSomeNan && random() % 500 == 0) {
    return kSpecials[0];
  }
  if (values == Values::kSparse) {
    return random() % 4096 == 0 ? 1.0F : 0.0F;
  }
  if (values == Values::kPruned) {
    const bool pruned = i % 3 == 2 || i % 9 >= 6;
    return pruned ? 0.0F : static_cast<float>(random() % 8 + 1) / 8.0F;
  }
  if (values == Values::kOutliers && random() % 4096 == 0) {
    return 1e9F;
  }
  if (values == Values::kExact || values == Values::kSomeNan || values == Values::kLargest) {
    return static_cast<float>(static_cast<int>(random() % 17) - 8) / 8.0F;
  }
  if ((values == Values::kSpecial || values == Values::kWide) && random() % 4 == 0) {
    return kSpecials[random() % std::size(kSpecials)];
  }
  return std::uniform_real_distribution<float>(-4, 4)(random);
}

double drawDouble(std::mt19937& random, Values values, size_t i) {
  static constexpr double kSpecials[] = {1e-310, -1e-310, 1e-300, 1e300,  -1e300, 709.7,
                                         -709.7, 710.0,   -745.0, -746.0, 40.0,   -40.0};
  if (values == Values::kSpecial && random() % 8 == 0) {
    return kSpecials[random() % std::size(kSpecials)];
  }
  if (values == Values::kSmooth) {
    return std::uniform_real_distribution<double>(-4, 4)(random);
  }
  return draw(random, values, i);
}

int64_t drawInteger(std::mt19937& random, DType dtype, Values values) {
  if (values != Values::kWide) {
    const bool is_rare = dtype == DType::kBool && values == Values::kSparse;
    return static_cast<int64_t>(is_rare ? random() % 4096 == 0 : random() % 2);
  }
  if (dtype == DType::kBool) {
    return random() % 2 == 0 ? 0 : static_cast<int64_t>(random() % 255 + 1);
  }
  const int64_t bits = static_cast<int64_t>(uint64_t{random()} << 32 | random());
  const int64_t least =
      dtype == DType::kInt32 ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int64_t>::min();
  const int64_t choices[] = {bits, bits >> 13, bits >> 40, bits >> 58, 7, -3, -1, 1, least};
  const int64_t value = choices[random() % std::size(choices)];
  const bool is_zero =
      value == 0 || (dtype == DType::kInt16 ? static_cast<int16_t>(value) == 0 : static_cast<int32_t>(value) == 0);
  return is_zero ? 5 : value;  // zeros divide nothing
}

Buffer randomBuffer(const TensorDesc& desc, Values values, unsigned seed) {
  std::mt19937 random(seed);
  Buffer buffer = makeBuffer(bytesOf(desc));
  const size_t size = sizeOf(desc.dtype);
  for (size_t i = 0; i < bytesOf(desc) / size; ++i) {
    std::byte* at = buffer.data()->bytes + i * size;
    if (isSteps(desc.dtype)) {
      const uint8_t largest = desc.dtype == DType::kInt8 ? 0x81 : 0xFF;
      const auto any = static_cast<uint8_t>(random());
      *at = std::byte{values == Values::kLargest ? largest : values == Values::kWide && any == 0 ? uint8_t{5} : any};
    } else if (isFloating(desc.dtype) && desc.dtype != DType::kFloat64) {
      const float value = draw(random, values, i);
      Writer<float>(desc.dtype).write(&value, 1, at, 0, 1);
    } else {
      const int64_t value = drawInteger(random, desc.dtype, values);
      if (desc.dtype == DType::kFloat64) {
        const double wide = drawDouble(random, values, i);
        std::memcpy(at, &wide, size);
      } else if (!isFloating(desc.dtype)) {
        std::memcpy(at, &value, size);  // little-endian: the low bytes
      }
    }
  }
  return buffer;
}

void expectGuard(const Buffer& got, size_t bytes, size_t guard, const char* memory) {
  const std::byte* behind = got.data()->bytes + bytes;
  EXPECT_TRUE(std::all_of(behind, behind + guard, [](std::byte b) { return b == std::byte{0x5A}; }))
      << "wrote behind the " << memory;
}

void expectGuard(const TensorDesc& desc, const Buffer& got) {
  expectGuard(got, bytesOf(desc), kGuard, "output");
}

// A problem with data for the operands of its tuned shapes.
class Data {
 public:
  Data(const std::string& text, Values values, std::optional<Values> constants = std::nullopt)
      : parsed_(parseProblem(text)), shapes_(tunedShapes(parsed_.problem)) {
    for (size_t i = 0; i < shapes_.inputs.size(); ++i) {
      const Values held = parsed_.constant[i] ? constants.value_or(values) : values;
      inputs_.push_back(randomBuffer(shapes_.inputs[i], held, static_cast<unsigned>(i) + 1));
      if (parsed_.constant[i]) {
        parsed_.problem.inputs[i].constant = inputs_.back().data();
      }
    }
  }

  const Problem& problem() const {
    return parsed_.problem;
  }
  const ShapeSet& shapes() const {
    return shapes_;
  }

  // A kernel that says it can restore a constant returns the given bits.
  void expectRestored(const Kernel& kernel) const {
    const auto* restoring = dynamic_cast<const RestoresConstants*>(&kernel);
    for (size_t i = 0; restoring != nullptr && i < inputs_.size(); ++i) {
      if (!parsed_.constant[i] || !restoring->restores(static_cast<int>(i))) {
        continue;
      }
      const size_t bytes = bytesOf(shapes_.inputs[i]);
      Buffer restored = makeBuffer(bytes + kGuard);
      std::memset(restored.data(), 0x5A, restored.size() * sizeof(Line));
      restoring->restore(static_cast<int>(i), restored.data(), 2);
      EXPECT_EQ(std::memcmp(restored.data(), inputs_[i].data(), bytes), 0) << "constant " << i << " is another one";
      expectGuard(shapes_.inputs[i], restored);
    }
  }

  std::vector<Buffer> run(const Kernel& kernel, int threads) const {
    return run(kernel, *prepare(kernel, threads), threads);
  }

  std::unique_ptr<Prepared> prepare(const Kernel& kernel, int threads) const {
    ShapeSet shapes = shapes_;
    shapes.threads = threads;
    return kernel.prepare(shapes);
  }

  // The memory of one run.
  struct Call {
    std::vector<const void*> inputs;
    std::vector<Buffer> outputs;
    std::vector<void*> addresses;
    Buffer scratch;
    RunArgs args{};
  };

  Call call(const Kernel& kernel, const Prepared& prepared, int threads) const {
    Call call;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const bool absent = !parsed_.problem.inputs[i].present;
      const bool released = parsed_.constant[i] && !kernel.needsConstant(static_cast<int>(i));
      call.inputs.push_back(absent || released ? nullptr : inputs_[i].data());
    }
    for (const TensorDesc& desc : shapes_.outputs) {
      call.outputs.push_back(makeBuffer(bytesOf(desc) + kGuard));
      std::memset(call.outputs.back().data(), 0x5A, call.outputs.back().size() * sizeof(Line));
      call.addresses.push_back(call.outputs.back().data());
    }
    call.scratch = makeBuffer(prepared.scratchBytes() + kScratchGuard);
    std::memset(call.scratch.data(), 0xFF,
                prepared.scratchBytes());  // NaN of every dtype: no kernel reads what it did not write
    std::memset(reinterpret_cast<std::byte*>(call.scratch.data()) + prepared.scratchBytes(), 0x5A, kScratchGuard);
    call.args = {call.inputs.data(), call.addresses.data(),
                 prepared.scratchBytes() == 0 ? nullptr : call.scratch.data(), threads};
    return call;
  }

  std::vector<Buffer> run(const Kernel& kernel, const Prepared& prepared, int threads) const {
    Call made = call(kernel, prepared, threads);
    prepared.run(made.args);
    expectGuard(made.scratch, prepared.scratchBytes(), kScratchGuard, "scratch memory");
    return std::move(made.outputs);
  }

 private:
  ParsedProblem parsed_;
  ShapeSet shapes_;
  std::vector<Buffer> inputs_;
};

bool isClose(double got, double expected, double rtol, double atol) {
  if (std::isnan(expected) || std::isinf(expected)) {
    return std::isnan(expected) ? std::isnan(got) : got == expected;
  }
  return std::abs(got - expected) <= atol + rtol * std::abs(expected);
}

template <typename T = float>
std::vector<T> floatsOf(const TensorDesc& desc, const Buffer& buffer) {
  std::vector<T> values(bytesOf(desc) / sizeOf(desc.dtype));
  Reader<T>(desc.dtype).read(buffer.data(), 0, 1, static_cast<int64_t>(values.size()), values.data());
  return values;
}

template <typename T>
void compareFloats(const TensorDesc& desc, const Buffer& got, const Buffer& expected, const CompareOptions& options) {
  const double scale = std::is_same_v<T, double> ? 0x1p-29 : 1.0;
  const size_t count = bytesOf(desc) / sizeOf(desc.dtype);
  const std::vector<T> a = floatsOf<T>(desc, got);
  const std::vector<T> b = floatsOf<T>(desc, expected);
  double largest = 0;
  for (size_t i = 0; i < count; ++i) {
    // Beyond 1e6 the special values of a test, not its scale, are what is largest.
    if (std::abs(b[i]) < T(1e6)) {
      largest = std::max<double>(largest, std::abs(b[i]));
    }
  }
  size_t wrong = 0;
  for (size_t i = 0; i < count; ++i) {
    const bool other_zero =
        options.zeros_have_signs && a[i] == 0 && b[i] == 0 && std::signbit(a[i]) != std::signbit(b[i]);
    if ((other_zero || !isClose(a[i], b[i], scale * options.rtol, scale * options.atol * largest)) && ++wrong <= 3) {
      ADD_FAILURE() << "element " << i << " of " << count << " is " << a[i] << ", expected " << b[i];
    }
  }
  EXPECT_EQ(wrong, 0U);
}

void compareSteps(const TensorDesc& desc, const Buffer& got, const Buffer& expected, int allowed) {
  const std::vector<float> a = floatsOf(desc, got);
  const std::vector<float> b = floatsOf(desc, expected);
  size_t wrong = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::abs(a[i] - b[i]) > static_cast<float>(allowed) && ++wrong <= 3) {
      ADD_FAILURE() << "element " << i << " of " << a.size() << " is " << a[i] << ", expected " << b[i];
    }
  }
  EXPECT_EQ(wrong, 0U);
}

void compareRuns(const Data& data, const Kernel& fast, const CompareOptions& options) {
  const Chosen reference = createKernel(data.problem(), "reference");
  const std::vector<Buffer> expected = data.run(*reference.kernel, 1);
  std::vector<Buffer> first;
  for (const int threads : {1, 2, 3}) {
    SCOPED_TRACE("threads " + std::to_string(threads));
    const std::vector<Buffer> got = data.run(fast, threads);
    for (size_t i = 0; i < got.size(); ++i) {
      const TensorDesc& desc = data.shapes().outputs[i];
      expectGuard(desc, got[i]);
      if (!first.empty()) {
        EXPECT_EQ(std::memcmp(got[i].data(), first[i].data(), bytesOf(desc)), 0)
            << "the result depends on the number of threads";
      } else if (isSteps(desc.dtype)) {
        compareSteps(desc, got[i], expected[i], options.steps);
      } else if (computeSize(desc.dtype) == sizeof(float)) {
        compareFloats<float>(desc, got[i], expected[i], options);
      } else if (desc.dtype == DType::kFloat64 && options.float64_rounds) {
        compareFloats<double>(desc, got[i], expected[i], options);
      } else {
        EXPECT_EQ(std::memcmp(got[i].data(), expected[i].data(), bytesOf(desc)), 0);
      }
    }
    if (first.empty()) {
      first = got;
    }
  }
}

}  // namespace

void expectMatchesReference(const std::string& problem, const std::string& implementation,
                            const CompareOptions& options) {
  SCOPED_TRACE(problem);
  const Data data(problem, options.values, options.constants);
  const Chosen fast = createKernel(data.problem(), implementation);
  std::string refusals;
  for (const auto& [name, refusal] : fast.refusals) {
    refusals += "\n  " + name + ": " + refusal.reason;
  }
  ASSERT_EQ(fast.implementation, implementation) << refusals;
  data.expectRestored(*fast.kernel);
  compareRuns(data, *fast.kernel, options);
  for (const std::string& other : options.shapes) {
    SCOPED_TRACE(other);
    compareRuns(Data(other, options.values, options.constants), *fast.kernel, options);
  }
}

std::optional<Refusal> expectMatchesReferenceIfTaken(const std::string& problem, const std::string& implementation,
                                                     const CompareOptions& options) {
  const Data data(problem, options.values, options.constants);
  const Chosen chosen = createKernel(data.problem(), implementation);
  if (chosen.implementation == implementation) {
    expectMatchesReference(problem, implementation, options);
    return std::nullopt;
  }
  return chosen.refusals.front().second;
}

void expectRunsInRealTime(const std::string& problem, const std::string& implementation) {
  SCOPED_TRACE(problem);
  const Data data(problem, Values::kExact);
  const Chosen chosen = createKernel(data.problem(), implementation);
  if (chosen.implementation != implementation || mayAllocate(*chosen.kernel)) {
    return;
  }
  for (const int threads : {1, 2}) {
    const std::unique_ptr<Prepared> prepared = data.prepare(*chosen.kernel, threads);
    const Data::Call call = data.call(*chosen.kernel, *prepared, threads);
    prepared->run(call.args);
    keepThreadMemory(threads);
    const torchtrt::testing::Observed seen = torchtrt::testing::watchCall(threads, [&] { prepared->run(call.args); });
    EXPECT_TRUE(seen.isQuiet()) << threads << " threads: " << seen.text();
  }
}

void expectMatchesReferenceInBoth(const std::string& problem, const std::string& implementation,
                                  const CompareOptions& options) {
  const auto inFloat64 = [](std::string text) {
    for (size_t at = text.find("float32"); at != std::string::npos; at = text.find("float32")) {
      text.replace(at, 7, "float64");
    }
    return text;
  };
  expectMatchesReference(problem, implementation, options);
  CompareOptions wide = options;
  wide.float64_rounds = true;
  std::transform(wide.shapes.begin(), wide.shapes.end(), wide.shapes.begin(), inFloat64);
  expectMatchesReference(inFloat64(problem), implementation, wide);
}

void expectSafeForThreads(const std::string& problem, const std::string& implementation) {
  SCOPED_TRACE(problem);
  constexpr int kCallers = 4;
  constexpr int kRuns = 25;
  const Data data(problem, Values::kExact);
  const Chosen chosen = createKernel(data.problem(), implementation);
  ASSERT_EQ(chosen.implementation, implementation);
  const std::unique_ptr<Prepared> prepared = data.prepare(*chosen.kernel, 2);
  const std::vector<Buffer> expected = data.run(*chosen.kernel, *prepared, 2);
  std::atomic<int> different = 0;
  std::vector<std::thread> callers;
  callers.reserve(kCallers);
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&] {
      for (int run = 0; run < kRuns; ++run) {
        const std::vector<Buffer> got = data.run(*chosen.kernel, *prepared, 2);
        if (std::memcmp(got[0].data(), expected[0].data(), bytesOf(data.shapes().outputs[0])) != 0) {
          ++different;
        }
      }
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  EXPECT_EQ(different, 0);
}

void expectAloneWithoutHelpers(const std::string& problem, const std::string& implementation) {
  SCOPED_TRACE(problem);
  const Data data(problem, Values::kSmooth);
  const Chosen chosen = createKernel(data.problem(), implementation);
  ASSERT_EQ(chosen.implementation, implementation);
  const std::unique_ptr<Prepared> prepared = data.prepare(*chosen.kernel, 2);
  const std::vector<Buffer> expected = data.run(*chosen.kernel, *prepared, 2);
  const auto countThreads = [] {
    using Files = std::filesystem::directory_iterator;
    return std::distance(Files("/proc/self/task"), Files());
  };
  std::vector<Buffer> got;
  std::ptrdiff_t asked = 0;
  // A new thread has no team yet. A request for one starts another thread.
  std::thread([&] {
    for (int loop = 0; loop < Helpers::kPatience; ++loop) {
      helpersOfThisThread().sharedACore(Helpers::Clock::now() + std::chrono::hours(1));
    }
    const std::ptrdiff_t before = countThreads();
    got = data.run(*chosen.kernel, *prepared, 2);
    asked = countThreads() - before;
  }).join();
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(std::memcmp(got[0].data(), expected[0].data(), bytesOf(data.shapes().outputs[0])), 0);
}

void expectRefused(const std::string& problem, const std::string& implementation, const std::string& code,
                   Values values) {
  SCOPED_TRACE(problem);
  const Data data(problem, values);
  if (code == "slower") {  // refused by its rule, which nobody asks where its name is given
    const CreateResult made = createByRule(*findFamily(data.problem().family)->find(implementation), data.problem());
    const Refusal* const refusal = std::get_if<Refusal>(&made);
    ASSERT_NE(refusal, nullptr);
    EXPECT_EQ(refusal->code, code) << refusal->reason;
    return;
  }
  const Chosen chosen = createKernel(data.problem(), implementation);
  EXPECT_NE(chosen.implementation, implementation);
  const auto found = std::find_if(chosen.refusals.begin(), chosen.refusals.end(),
                                  [&](const auto& refusal) { return refusal.first == implementation; });
  ASSERT_NE(found, chosen.refusals.end());
  EXPECT_EQ(found->second.code, code) << found->second.reason;
}

}  // namespace torchtrt::kernels
