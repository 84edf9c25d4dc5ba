// Sum, average, maximum and minimum in float32, where either what is reduced or what is kept lies next to each other in
// memory.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "kernels/common/fallback.h"
#include "kernels/common/loop_nest.h"
#include "kernels/common/row_reductions.h"
#include "kernels/common/simple_kernel.h"
#include "kernels/common/strided_loop.h"
#include "kernels/reduce/fast.h"
#include "kernels/reduce/reduce.h"

namespace torchtrt::kernels::reduce {
namespace {

enum class Op : uint8_t { kSum, kAverage, kMax, kMin };

struct Config {
  Op op = Op::kSum;
  std::vector<int64_t> axes;

  bool isSum() const {
    return op == Op::kSum || op == Op::kAverage;
  }
  bool reduces(size_t axis) const {
    return std::find(axes.begin(), axes.end(), static_cast<int64_t>(axis)) != axes.end();
  }
};

// The axes that stay: output and input.
LoopNest keptNest(const Config& config, const ShapeSet& shapes) {
  const TensorDesc& in = shapes.inputs[0];
  const TensorDesc& out = shapes.outputs[0];
  const bool keeps_dims = in.dims.size() == out.dims.size();
  std::vector<int64_t> dims, in_strides, out_strides;
  size_t out_axis = 0;
  for (size_t axis = 0; axis < in.dims.size(); ++axis) {
    if (!config.reduces(axis)) {
      dims.push_back(in.dims[axis]);
      in_strides.push_back(in.strides[axis]);
      out_strides.push_back(out.strides[out_axis]);
    }
    out_axis += !config.reduces(axis) || keeps_dims ? 1 : 0;
  }
  return {dims, {out_strides, in_strides}};
}

// The axes that go: input.
StridedLoop reducedLoop(const Config& config, const TensorDesc& in) {
  std::vector<int64_t> dims, strides;
  for (size_t axis = 0; axis < in.dims.size(); ++axis) {
    if (config.reduces(axis)) {
      dims.push_back(in.dims[axis]);
      strides.push_back(in.strides[axis]);
    }
  }
  return {dims, {strides}};
}

// The step between the innermost elements that are reduced; 1 when there is one element.
int64_t reducedStep(const StridedLoop& loop) {
  int64_t step = 1;
  loop.run(0, 1, 1, [&](const int64_t*, const int64_t* steps, int64_t) { step = steps[0]; });
  return step;
}

class HighwayReduce final : public Prepared {
 public:
  static bool accepts(const Config& config, const ShapeSet& shapes) {
    const StridedLoop reduced = reducedLoop(config, shapes.inputs[0]);
    const LoopNest kept = keptNest(config, shapes);
    if (reduced.count() == 0 || kept.count() == 0) {
      return false;
    }
    return reducedStep(reduced) == 1 || (kept.steps()[0] == 1 && kept.steps()[1] == 1);
  }

  HighwayReduce(const Config& config, const ShapeSet& shapes)
      : config_(config),
        kept_(keptNest(config, shapes)),
        reduced_(reducedLoop(config, shapes.inputs[0])),
        by_rows_(reducedStep(reduced_) == 1) {}

  void run(const RunArgs& args) const override {
    const auto* in = static_cast<const float*>(args.inputs[0]);
    auto* out = static_cast<float*>(args.outputs[0]);
    const int64_t grain = std::max<int64_t>(1, kGrain / reduced_.count());
    kept_.run(args.threads, kColumns, grain, [&](const LoopNest::Block& block) {
      for (int64_t row = 0; row < block.rows; ++row) {
        const float* from = in + block.offsets[1] + row * block.row_strides[1];
        float* to = out + block.offsets[0] + row * block.row_strides[0];
        if (!by_rows_) {
          reduceColumns(from, to, block.length);
          continue;
        }
        for (int64_t i = 0; i < block.length; ++i) {
          to[i * block.steps[0]] = reduceRows(from + i * block.steps[1]);
        }
      }
    });
  }

 private:
  static constexpr int64_t kColumns = 256;
  static constexpr int64_t kGrain = 32768;
  static constexpr int64_t kPartial = 32;  // terms that are added before they go into the total

  float finish(double total) const {
    return static_cast<float>(config_.op == Op::kAverage ? total / static_cast<double>(reduced_.count()) : total);
  }

  // One output, whose terms lie in rows.
  float reduceRows(const float* from) const {
    const RowReductions& functions = rowReductions();
    double sum = 0;
    float best =
        config_.op == Op::kMax ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
    reduced_.run(0, reduced_.count(), reduced_.count(), [&](const int64_t* offsets, const int64_t*, int64_t n) {
      if (config_.isSum()) {
        sum += static_cast<double>(functions.sum(from + offsets[0], n));
      } else if (config_.op == Op::kMax) {
        const float value = functions.max(from + offsets[0], n);
        best = value > best || std::isnan(value) ? value : best;
      } else {
        const float value = functions.min(from + offsets[0], n);
        best = value < best || std::isnan(value) ? value : best;
      }
    });
    return config_.isSum() ? finish(sum) : best;
  }

  // `columns` outputs next to each other, whose terms lie next to each other too.
  void reduceColumns(const float* from, float* to, int64_t columns) const {
    const RowReductions& functions = rowReductions();
    alignas(64) std::array<float, kColumns> totals;
    alignas(64) std::array<float, kColumns> partial;
    const auto update = config_.isSum() ? functions.add : config_.op == Op::kMax ? functions.raise : functions.lower;
    const float start = config_.isSum()          ? 0.0F
                        : config_.op == Op::kMax ? -std::numeric_limits<float>::infinity()
                                                 : std::numeric_limits<float>::infinity();
    totals.fill(start);
    partial.fill(start);
    int64_t terms = 0;
    reduced_.run(0, reduced_.count(), reduced_.count(), [&](const int64_t* offsets, const int64_t* steps, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        update(from + offsets[0] + i * steps[0], partial.data(), columns);
        if (++terms == kPartial) {
          update(partial.data(), totals.data(), columns);
          partial.fill(start);
          terms = 0;
        }
      }
    });
    update(partial.data(), totals.data(), columns);
    for (int64_t i = 0; i < columns; ++i) {
      to[i] = config_.isSum() ? finish(static_cast<double>(totals[static_cast<size_t>(i)]))
                              : totals[static_cast<size_t>(i)];
    }
  }

  Config config_;
  LoopNest kept_;
  StridedLoop reduced_;
  bool by_rows_;
};

}  // namespace

CreateResult createHighway(const Problem& problem) {
  if (const char* dtype = otherThanFloat32(problem)) {
    return float32Only(dtype);
  }
  const std::string& op = problem.attributes->getString("op");
  Config config;
  config.axes = problem.attributes->getInts("axes");
  if (op == "sum") {
    config.op = Op::kSum;
  } else if (op == "avg") {
    config.op = Op::kAverage;
  } else if (op == "max") {
    config.op = Op::kMax;
  } else if (op == "min") {
    config.op = Op::kMin;
  } else {
    return Refusal{"op", "has no vector form of " + op};
  }
  return makeKernelWithFallback<HighwayReduce>(config, createReduceReference(problem));
}

}  // namespace torchtrt::kernels::reduce
