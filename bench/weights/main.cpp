// torchtrt-bench-weights: products of few rows with weights of float32, int8 and int4, beside the speed at which this
// machine reads memory. Each form has so many copies of its weights that no cache holds them, as the layers of a
// decoder do. Reading and all forms take turns; the numbers are medians.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "cpu/threads/parallel.h"
#include "device/constants.h"
#include "kernels/kernel.h"
#include "kernels/problem_text.h"

namespace {

using namespace torchtrt;           // NOLINT(google-build-using-namespace): a program of one file
using namespace torchtrt::kernels;  // NOLINT(google-build-using-namespace)

constexpr const char* kHelp = R"(usage: torchtrt-bench-weights [COLUMNS DEPTH [ROWS [THREADS [ROUNDS [MEGABYTES]]]]]
Multiplies ROWS x DEPTH by DEPTH x COLUMNS (default: 1 x 4096 by 4096 x 4096) on THREADS (default: 1), ROUNDS times in
turns (default: 60), with at least MEGABYTES (default: 256) of weights of each form. Prints milliseconds and GB/s of
weights with their scales, and the share of the speed at which memory is read.
)";

double millisecondsOf(const auto& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double medianOf(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

std::string dims(int64_t a, int64_t b) {
  return "[" + std::to_string(a) + "," + std::to_string(b) + "]";
}

using Buffer = std::vector<std::max_align_t>;

Buffer randomBuffer(size_t bytes, bool of_floats, std::mt19937& random) {
  Buffer buffer(bytes / sizeof(std::max_align_t) + 1);
  for (size_t i = 0; i < bytes / sizeof(uint32_t); ++i) {
    const uint32_t bits = static_cast<uint32_t>(random());
    const float value = static_cast<float>(bits % 2048) / 1024 - 1;
    std::memcpy(reinterpret_cast<std::byte*>(buffer.data()) + i * sizeof(bits),
                of_floats ? static_cast<const void*>(&value) : &bits, sizeof(bits));
  }
  return buffer;
}

// Copies of a product with weights of one form.
class Form {
 public:
  Form(const char* name, const std::string& problem, int threads, double least_megabytes) : name_(name) {
    const ParsedProblem parsed = parseProblem(problem);
    const ShapeSet given = tunedShapes(parsed.problem);
    Problem known = parsed.problem;
    std::mt19937 random(1);
    std::vector<Buffer> constants(given.inputs.size());
    for (size_t i = 0; i < given.inputs.size(); ++i) {
      if (!known.inputs[i].present) {
        continue;
      }
      const size_t bytes = static_cast<size_t>(countOf(given.inputs[i].dims)) * sizeOf(given.inputs[i].dtype);
      Buffer buffer = randomBuffer(bytes, given.inputs[i].dtype == DType::kFloat32, random);
      if (parsed.constant[i]) {
        bytes_ += static_cast<double>(bytes);
        constants[i] = std::move(buffer);
        known.inputs[i].constant = constants[i].data();
      } else {
        input_ = std::move(buffer);
      }
    }
    output_.resize(static_cast<size_t>(countOf(given.outputs[0].dims)) * sizeof(float) / sizeof(std::max_align_t) + 1);
    known.threads = threads;
    ShapeSet shapes = given;
    shapes.threads = threads;
    const auto copies = static_cast<int64_t>(least_megabytes * 1e6 / bytes_) + 2;
    for (int64_t i = 0; i < copies; ++i) {
      Chosen chosen = createKernel(known);
      implementation_ = chosen.implementation;
      prepared_.push_back(chosen.kernel->prepare(shapes));
      kernels_.push_back(std::move(chosen.kernel));
    }
    scratch_.resize(prepared_[0]->scratchBytes() / sizeof(std::max_align_t) + 5);
    operands_.resize(given.inputs.size());
    operands_[0] = input_.data();
    threads_ = threads;
  }

  // Times the next copy.
  void time() {
    void* output = output_.data();
    auto scratch = reinterpret_cast<uintptr_t>(scratch_.data());
    scratch = (scratch + 63) / 64 * 64;
    const Prepared& next = *prepared_[times_.size() % prepared_.size()];
    times_.push_back(millisecondsOf([&] {
      next.run({operands_.data(), &output, reinterpret_cast<void*>(scratch), threads_});
    }));
  }

  void print(double reading) const {
    const double milliseconds = medianOf(times_);
    const double speed = bytes_ / milliseconds / 1e6;
    std::printf("  %-18s %-12s %8.3f ms %8.1f GB/s %5.0f %% of reading\n", name_, implementation_.c_str(), milliseconds,
                speed, 100 * speed / reading);
  }

 private:
  const char* name_;
  std::string implementation_;
  double bytes_ = 0;  // of weights with their scales
  int threads_ = 1;
  Buffer input_, output_, scratch_;
  std::vector<const void*> operands_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::unique_ptr<Prepared>> prepared_;
  std::vector<double> times_;
};

// Reads pieces of a memory that no cache holds.
class Reading {
 public:
  Reading(int threads, double megabytes) : bytes_(static_cast<size_t>(megabytes * 1e6)), threads_(threads) {
    memory_ = device::allocateConstant(bytes_, "reading");  // in huge pages, as weights are
    std::memset(memory_.get(), 1, bytes_);
  }

  void time() {
    const auto piece = static_cast<int64_t>(kPiece / sizeof(uint64_t));
    const auto pieces = static_cast<int64_t>(bytes_ / sizeof(uint64_t)) / piece;
    const uint64_t* first =
        static_cast<const uint64_t*>(memory_.get()) + static_cast<int64_t>(speeds_.size()) % pieces * piece;
    const double milliseconds = millisecondsOf([&] {
      parallelFor(threads_, 0, piece, piece / threads_ / 4, [&](int64_t begin, int64_t end) {
        uint64_t sums[8] = {};
        for (int64_t i = begin; i + 16 <= end; i += 16) {
          __builtin_prefetch(first + i + 512, 0, 3);
          __builtin_prefetch(first + i + 520, 0, 3);
          for (int64_t j = 0; j < 8; ++j) {
            sums[j] += first[i + j] + first[i + 8 + j];
          }
        }
        volatile uint64_t kept = std::accumulate(sums, sums + 8, uint64_t{0});
        (void)kept;
      });
    });
    speeds_.push_back(kPiece / milliseconds / 1e6);
  }
  double speed() const {
    return medianOf(speeds_);
  }

 private:
  static constexpr double kPiece = 4e6;  // bytes of a run, which is short: few are interrupted

  size_t bytes_;
  std::shared_ptr<void> memory_;
  int threads_;
  std::vector<double> speeds_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  const auto given = [&](int i, int64_t fallback) { return argc > i ? std::atoll(argv[i]) : fallback; };
  const int64_t columns = given(1, 4096), depth = given(2, 4096), rows = given(3, 1);
  const auto threads = static_cast<int>(given(4, 1));
  const int64_t rounds = given(5, 60);
  const auto megabytes = static_cast<double>(given(6, 256));
  constexpr int64_t kGroup = 64;
  const std::string a = "float32 " + dims(rows, depth) + "x";
  const std::string to = " -> " + dims(rows, columns) + " ";
  const std::string scale = "xfloat32 " + dims(columns, depth / kGroup) + "!";
  const auto weights = [&](int64_t bits, bool has_offset) {
    const std::string integers = bits == 4 ? "uint8 " + dims(columns, depth / 2) : "int8 " + dims(columns, depth);
    return "integer_weight_matrix_multiply " + a + integers + "!" + scale +
           (has_offset ? "x" + dims(columns, depth / kGroup) + "!" : "") + to + "{bits=" + std::to_string(bits) +
           ", group_size=" + std::to_string(kGroup) + "}";
  };
  const ThreadScope scope(threads);
  Reading reading(threads, std::max(megabytes, 32.0));
  std::vector<Form> forms;
  forms.reserve(4);
  forms.emplace_back("float32", "matrix_multiply " + a + dims(depth, columns) + "!" + to + "{}", threads, megabytes);
  forms.emplace_back("int8", weights(8, false), threads, megabytes);
  forms.emplace_back("int4", weights(4, false), threads, megabytes);
  forms.emplace_back("int4, zero points", weights(4, true), threads, megabytes);
  for (int64_t round = 0; round < rounds; ++round) {
    reading.time();
    for (Form& form : forms) {
      form.time();
    }
  }
  std::printf("%lldx%lld by %lldx%lld, %d thread%s, groups of %lld; memory is read at %.1f GB/s\n",
              static_cast<long long>(rows), static_cast<long long>(depth), static_cast<long long>(depth),
              static_cast<long long>(columns), threads, threads == 1 ? "" : "s", static_cast<long long>(kGroup),
              reading.speed());
  for (const Form& form : forms) {
    form.print(reading.speed());
  }
  return 0;
}
