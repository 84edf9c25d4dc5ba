#include "support/plan_damage.h"

#include <iterator>
#include <random>

#include "builder/builder.h"
#include "support/plan_changes.h"
#include "support/plan_trial.h"
#include "support/random_network.h"
#include "torchtrt/network.h"
#include "torchtrt/plugin.h"

namespace torchtrt::testing {
namespace {

constexpr size_t kMostBytes = size_t{1} << 26;  // of the tensors of a plan

// Layers that random networks do not have: windows over one to three of the last dims, whichever those are, channels
// among them, and plugins.
constexpr const char* kWritten[] = {
    R"(network "windows" (n in [1, 2, 4]) {
  input %image : float32[n, 4, 6, 6]
  %x = activation(%image) {op="tanh"}
  %a1 = adaptive_pooling(%x) {op="average", output_size=[3]}
  %a2 = adaptive_pooling(%x) {op="max", output_size=[4, 3]}
  %a3 = adaptive_pooling(%x) {op="average", output_size=[2, 3, 3]}
  %am, %ai = adaptive_pooling(%x) {op="max", output_size=[2, 2, 9], return_indices=true}
  %p1 = pooling(%x) {op="average", window=[2], stride=[1], pre_padding=[1], post_padding=[0]}
  %p2 = pooling(%x) {op="max", window=[2, 3]}
  %p3 = pooling(%x) {op="average", window=[2, 2, 2], stride=[1, 2, 2], count_include_pad=false}
  %pm, %pi = pooling(%x) {op="max", window=[3, 2, 2], return_indices=true, ceil_mode=true}
  %r1 = resize(%x) {mode="linear", size=[9]}
  %r2 = resize(%x) {mode="cubic", size=[3, 9], align_corners=true}
  %r3 = resize(%x) {mode="nearest", size=[8, 3, 3]}
  %g = normalization(%x) {mode="group", eps=0.001, groups=2}
  %l = normalization(%x) {mode="layer", eps=0.001, normalized_rank=3}
  %c = cumulative(%x) {op="sum", axis=1}
  %k, %ki = topk(%x) {k=[2], axis=1}
  %s = softmax(%x) {axis=1}
  output "a1" %a1
  output "a2" %a2
  output "a3" %a3
  output "am" %am
  output "ai" %ai
  output "p1" %p1
  output "p2" %p2
  output "p3" %p3
  output "pm" %pm
  output "pi" %pi
  output "r1" %r1
  output "r2" %r2
  output "r3" %r3
  output "g" %g
  output "l" %l
  output "c" %c
  output "k" %k
  output "ki" %ki
  output "s" %s
})",
    R"(network "lines" (t in [2, 8, 16]) {
  input %x : float32[2, 4, t]
  %k = fill() {op="constant", dims=[6, 2, 3], dtype=float32, value=0.5}
  %d = fill() {op="constant", dims=[4, 3, 2], dtype=float32, value=0.25}
  %c = convolution(%x, %k) {groups=2, stride=[2], pre_padding=[1], post_padding=[1], dilation=[1], activation="relu"}
  %t = deconvolution(%x, %d) {stride=[2], pre_padding=[1], post_padding=[0], dilation=[2], output_padding=[1]}
  %a = adaptive_pooling(%c) {op="average", output_size=[1]}
  %m = matrix_multiply(%x, %x) {transpose_b=true}
  %r = reduce(%x) {op="logsumexp", axes=[1, 2], keep_dims=true}
  %e = expand(%r) {dims=[2, 3, t]}
  %p = padding(%x) {pre=[0, 1, 2], post=[0, 0, 1], mode="reflect"}
  %s = shuffle(%x) {first_permutation=[2, 0, 1], reshape_dims=[t, 8], second_permutation=[1, 0]}
  %i = slice(%x) {start=[0, 3, 0], size=[2, 2, t], stride=[1, -2, 1]}
  output "c" %c
  output "t" %t
  output "a" %a
  output "m" %m
  output "e" %e
  output "p" %p
  output "s" %s
  output "i" %i
})",
    R"(network "plugins" (n in [1, 2, 4]) {
  input %image : float32[n, 4, 6, 6]
  input %boxes : float32[5, 4]
  input %regions : float32[5, 5]
  input %offset : float32[n, 18, 4, 4]
  %scores = reduce(%boxes) {op="sum", axes=[1], keep_dims=false}
  %zero = fill() {op="constant", dims=[5], dtype=float32}
  %mask = elementwise(%scores, %zero) {op="greater"}
  %order, %count = plugin_v2(%boxes, %scores) {counted=[0], iou_threshold=0.5, namespace="torchtrt", type="Suppression", version="1"}
  %kept, %left = plugin_v2(%boxes, %mask) {counted=[0], namespace="torchtrt", type="MaskedRows", version="1"}
  %places, %found = plugin_v2(%boxes) {by_axis=false, counted=[0], namespace="torchtrt", type="NonZero", version="1"}
  %values, %inverse, %counts, %unique = plugin_v2(%scores) {consecutive=false, counted=[0, 2], namespace="torchtrt", type="Unique", version="1"}
  %pooled = plugin_v2(%image, %regions) {aligned=true, columns=2, namespace="torchtrt", op="align", rows=2, sampling_ratio=2, spatial_scale=1.0, type="PoolRegions", version="1"}
  %columns = plugin_v2(%image, %offset) {dilation=[1, 1], kernel=[3, 3], namespace="torchtrt", offset_groups=1, padding=[0, 0], stride=[1, 1], type="DeformedColumns", version="1"}
  %small = plugin_v2(%image) {align_corners=false, mode="linear", namespace="torchtrt", scales=doubles[0.0, 0.0], size=[3, 3], type="AntialiasedResize", version="1"}
  %attended = plugin_v2(%image, %image, %image) {namespace="torchtrt", scale=0.125, transpose_k=true, type="Attention", version="1"}
  %placed = plugin_v2(%scores, %boxes) {int32=false, namespace="torchtrt", right=true, type="Search", version="1"}
  output "order" %order
  output "kept" %kept
  output "places" %places
  output "values" %values
  output "pooled" %pooled
  output "columns" %columns
  output "small" %small
  output "attended" %attended
  output "placed" %placed
})",
};

}  // namespace

PlanDamager::PlanDamager() {
  plugin::registerBuiltinPlugins();
  for (const char* text : kWritten) {
    plans_.push_back(builder::build(*network::parse(text)));
  }
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const auto network = test::randomNetwork(seed, {.layers = 6});
    plan::Plan plan = seed % 2 == 0 ? builder::optimizeAndBuild(*network) : builder::build(*network);
    if (!plan.steps.empty()) {
      plans_.push_back(std::move(plan));
    }
  }
}

plan::Plan PlanDamager::damaged(uint64_t seed) const {
  std::mt19937_64 random(seed);
  const size_t written = random() % 2 == 0 ? random() % std::size(kWritten) : random() % plans_.size();
  return changedPlan(plans_[written], random());
}

std::string PlanDamager::tryOne(uint64_t seed) {
  const plan::Plan plan = damaged(seed);
  std::string bytes;
  try {
    bytes = plan::serialize(plan);
  } catch (const EngineError&) {
    ++refused_;
    return "";
  }
  const PlanTrial trial = tryPlan(bytes, kMostBytes);
  refused_ += trial.outcome == PlanTrial::Outcome::kRefused ? 1 : 0;
  large_ += trial.outcome == PlanTrial::Outcome::kLarge ? 1 : 0;
  answers_ += trial.outcome == PlanTrial::Outcome::kAnswer ? 1 : 0;
  return trial.problem.empty() ? "" : trial.problem + "\n" + plan::print(plan);
}

}  // namespace torchtrt::testing
