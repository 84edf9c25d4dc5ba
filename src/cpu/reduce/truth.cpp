// Computes any and all of bools where the reduced or the kept elements are neighbours in memory.
#include <algorithm>
#include <array>
#include <cstring>

#include "cpu/loops/fallback.h"
#include "cpu/reduce/axes.h"
#include "cpu/reduce/fast.h"
#include "cpu/reduce/reduce.h"

namespace torchtrt::kernels::reduce {
namespace {

struct Config {
  bool any = true;
  std::vector<int64_t> axes;
};

class TruthReduce final : public Prepared {
 public:
  static bool accepts(const Config& config, const ShapeSet& shapes) {
    return ReduceAxes(config.axes, shapes).areFast();
  }

  TruthReduce(const Config& config, const ShapeSet& shapes) : any_(config.any), axes_(config.axes, shapes) {}

  void run(const RunArgs& args) const override {
    axes_.run<uint8_t, kColumns>(
        args, kGrain, [this](const uint8_t* from) { return reduceRows(from) ? 1 : 0; },
        [this](const uint8_t* from, uint8_t* to, int64_t columns) { reduceColumns(from, to, columns); });
  }

 private:
  static constexpr int64_t kColumns = 1024;
  static constexpr int64_t kBytes = 8;  // of a word
  static constexpr uint64_t kHighest = 0x8080808080808080;
  static constexpr int64_t kGrain = 131072;  // bytes worth a thread

  static bool hasTrue(const uint8_t* row, int64_t count) {
    uint64_t bits = 0;
    int64_t i = 0;
    for (; i + kBytes <= count; i += kBytes) {
      uint64_t word = 0;
      std::memcpy(&word, row + i, sizeof(word));
      bits |= word;
    }
    for (; i < count; ++i) {
      bits |= row[i];
    }
    return bits != 0;
  }

  bool reduceRows(const uint8_t* from) const {
    bool holds = !any_;
    axes_.forRows<uint8_t>(from, [&](const uint8_t* row, int64_t n) {
      if (any_) {
        holds = holds || hasTrue(row, n);
      } else {
        holds = holds && std::memchr(row, 0, static_cast<size_t>(n)) == nullptr;
      }
    });
    return holds;
  }

  void reduceColumns(const uint8_t* from, uint8_t* to, int64_t columns) const {
    std::array<uint64_t, kColumns / kBytes> truth;  // the highest bit of every byte
    truth.fill(any_ ? 0 : kHighest);
    axes_.forTerms<uint8_t>(from, columns, [&](const uint8_t* terms) {
      size_t word = 0;
      for (int64_t j = 0; j < columns; j += kBytes, ++word) {
        const uint64_t true_ones = trueOnes(terms + j, std::min(kBytes, columns - j));
        truth[word] = any_ ? truth[word] | true_ones : truth[word] & true_ones;
      }
    });
    for (int64_t j = 0; j < columns; ++j) {
      to[j] = static_cast<uint8_t>(truth[static_cast<size_t>(j / kBytes)] >> (8 * (j % kBytes) + 7) & 1);
    }
  }

  // The highest bit of every byte that is not 0, the first byte lowest; the other bits are 0.
  static uint64_t trueOnes(const uint8_t* bytes, int64_t count) {
    uint64_t word = 0;
    if (count == kBytes) {
      std::memcpy(&word, bytes, sizeof(word));
    } else {
      std::memcpy(&word, bytes, static_cast<size_t>(count));
    }
    return (((word & ~kHighest) + ~kHighest) | word) & kHighest;
  }

  bool any_;
  ReduceAxes axes_;
};

}  // namespace

CreateResult createTruth(const Problem& problem) {
  const DType in = problem.inputs.at(0).dtype;
  const DType out = problem.outputs.at(0).dtype;
  if (in != DType::kBool || out != DType::kBool) {
    return Refusal{"dtype", std::string("takes bools only, not ") + toString(in != DType::kBool ? in : out)};
  }
  const std::string& op = problem.attributes->getString("op");
  if (op != "any" && op != "all") {
    return Refusal{"op", "tells any and all only, not " + op};
  }
  return makeKernelWithFallback<TruthReduce>(Config{op == "any", problem.attributes->getInts("axes")},
                                             createReduceReference(problem));
}

}  // namespace torchtrt::kernels::reduce
