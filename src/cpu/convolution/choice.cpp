// The order of the list: tiles and oneDNN in bfloat16 where the CPU multiplies it, as nothing else is as fast. Then
// kernels for a shape of their own (depthwise, grouped, planes, few_outputs, winograd), which beat products of matrices
// wherever their rule lets them. Then packed_gemm, which needs no code for each shape and fuses more than oneDNN, and
// oneDNN for the rest: deep or grouped kernels and row-major images. Kernels that a call brings go to onednn_computed.
#include "cpu/convolution/choice.h"

#include <hwy/targets.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <variant>
#include <vector>

#include "cpu/convolution/direct/each_group.h"
#include "cpu/convolution/direct/few_outputs_row.h"
#include "cpu/convolution/direct/row.h"
#include "cpu/convolution/gemm/taps.h"
#include "cpu/convolution/gemm/tile_rows.h"
#include "cpu/convolution/winograd/winograd_kernels.h"
#include "cpu/convolution/winograd/winograd_tile.h"

namespace torchtrt::kernels::convolution {
namespace {

// Returns the geometry that describe() gives; nothing if it refuses.
std::optional<Geometry> geometryOf(std::variant<Geometry, Refusal> described) {
  Geometry* const geometry = std::get_if<Geometry>(&described);
  return geometry == nullptr ? std::nullopt : std::optional<Geometry>(std::move(*geometry));
}

Refusal slower(const char* reason) {
  return {"slower", reason};
}

#ifndef TORCHTRT_NO_ONEDNN
bool isFasterInOneDnn(const Problem& problem, const Geometry& g) {
  if (problem.inputs[0].order != problem.outputs[0].order || (g.taps() == 1 && g.groups == 1)) {
    return false;
  }
  const Runs runs = runsOf(g, problem.inputs[0]);
  const int64_t depth = runs.taps * runs.run;
  const std::vector<int64_t>& size = problem.outputs[0].opt_dims;
  const int64_t rows = std::accumulate(size.begin() + 2, size.end(), size[0], std::multiplies<>());
  if (runs.reading == Reading::kChannels) {
    const int64_t apart = g.stride[2] * g.channels * static_cast<int64_t>(sizeof(float));
    const bool collides = (hwy::SupportedTargets() & HWY_AVX3) != 0 && g.groups == 1 && apart % 4096 == 0;
    if (collides || (g.groups == 1 && size.back() == 1 && rows > size[0])) {
      return false;
    }
    return (depth >= 512 || g.groups > 1) && rows * depth * g.outputs >= 4'000'000;
  }
  const bool has_fast_silu = (hwy::SupportedTargets() & HWY_AVX2) != 0;
  return depth < 64 && rows >= 4096 && !(has_fast_silu && g.activation == "silu" && g.stride[2] > 1);
}
#endif

// Work on the tiles' values outside of products, in multiply-adds per tile and channel: by measurement (two cores,
// AVX2).
double transformsOf(WinogradForm form) {
  switch (form) {
    case WinogradForm::kSmall:
      return 100;
    case WinogradForm::kLarge:
      return 350;
    case WinogradForm::kStrided:
      break;
  }
  return 250;
}

// Bringing a kernel to the form in every call, in the same. Caches bound it: vectors of AVX-512 do no more of it in the
// time of many more multiply-adds (by measurement, Xeon with AMX).
double kernelTransformOf(WinogradForm form, int64_t lanes) {
  const double waiting = lanes < kWinogradVector ? 0 : 400;
  switch (form) {
    case WinogradForm::kSmall:
      return waiting + 50;
    case WinogradForm::kLarge:
      return waiting + 110;
    case WinogradForm::kStrided:
      break;
  }
  // Measured (Zen 4 up to AVX2, one core): 256 channels of 14x14 outputs take 0.87 of oneDNN's time, 512 of 7x7 1.2 of
  // the plain sum's.
  return std::max(waiting, 200.0);
}

// Fewer rows make matmuls wait for filters from memory. The longer the vectors, the more rows a filter has to serve.
double leastRows(int64_t lanes) {
  return 3.0 * static_cast<double>(lanes);
}

// Returns the cost in multiply-adds per channel and output.
double costOf(WinogradForm form, const Geometry& g, const std::vector<int64_t>& size, int64_t lanes) {
  const WinogradSizes sizes = sizesOf(form);
  const auto tiles = static_cast<double>(size[0] * tilesAlong(sizes.tile, size[2]) * tilesAlong(sizes.tile, size[3]));
  const double channels = 1.0 / static_cast<double>(g.channels) + 1.0 / static_cast<double>(g.outputs);
  const double products = static_cast<double>(sizes.patch()) * tiles;
  const double rest = tiles * transformsOf(form) * channels;
  if (WinogradKernels::areLarge(sizes, g)) {
    return products + kernelTransformOf(form, lanes) + rest;
  }
  const double least_rows = leastRows(lanes);
  return std::max(products, static_cast<double>(sizes.kernels()) * least_rows) + rest;
}

}  // namespace

// By measurement (a core of a Xeon with AMX), oneDNN's time over that of tiles: 1.0 to 2.5 in convolutions of
// ResNet-50, MobileNetV3 and U-Net but these. Filters larger than a pixel take 0.85 where planes are large (64x64 and
// more), and 0.75 where windows are put together one by one; 1x1 filters of few outputs 0.5.
std::optional<Refusal> leaveTiles(const Problem& problem) {
  constexpr int64_t kManyPixels = 4096, kFewOutputs = 17;
  constexpr int64_t kFewFlopsOfTiles = 50'000;
  const std::optional<Geometry> g = geometryOf(describe(problem, DType::kBFloat16));
  if (!g) {
    return std::nullopt;
  }
  const std::vector<int64_t>& size = problem.outputs[0].opt_dims;
  // Images of a batch come one after the other, so that its size chooses nothing.
  const int64_t pixels = std::accumulate(size.begin() + 2, size.end(), int64_t{1}, std::multiplies<>());
  if (2 * pixels * g->outputs * g->channels * g->taps() < kFewFlopsOfTiles) {
    return slower("is slower than float32 for so little arithmetic");
  }
  const bool is_large = pixels >= kManyPixels;
  const bool has_lines = depthOf(*g, sizeof(uint16_t)) == TileDepth::kLines;
  const bool has_planes = havePlanes(*g, sizeof(uint16_t));
  if (g->taps() == 1 ? is_large && g->outputs < kFewOutputs : !has_lines && (is_large || !has_planes)) {
    return slower("is slower than onednn for large images or few channels");
  }
  return std::nullopt;
}

// Below, the cost of oneDNN's call outweighs what bfloat16 saves: 3.5 us against 2.5 at 290,000 (AVX-512 BF16).
std::optional<Refusal> leaveOneDnnBFloat16(const Problem& problem) {
  constexpr int64_t kFewFlops = 400'000;
  const std::optional<Geometry> g = geometryOf(describe(problem, DType::kBFloat16));
  if (!g) {
    return std::nullopt;
  }
  const std::vector<int64_t>& output = problem.outputs[0].opt_dims;
  if (2 * countOf(output) * (g->channels / g->groups) * g->taps() < kFewFlops) {
    return slower("is slower than float32 for so little arithmetic");
  }
  return std::nullopt;
}

// Counts vector operations a pixel: the matmul multiplies once for every channel and tap; here there are sums across
// vectors to take in the end.
bool isFasterWithFewOutputs(const Geometry& g) {
  const int64_t lanes = fewOutputsFunctions().lanes;
  const int64_t vectors = (g.channels + lanes - 1) / lanes;
  return g.groups == 1 && g.outputs <= kMostFewOutputs && lanes >= kMostFewOutputs &&
         g.kernel[0] * g.kernel[1] <= kMaxRowLines &&
         g.taps() * vectors * g.outputs * 5 / 4 + 8 * g.outputs < g.taps() * g.channels;
}

std::optional<Refusal> leaveFewOutputs(const Problem& problem) {
  const std::optional<Geometry> g = geometryOf(describe(problem));
  if (!g || g->groups > 1 || g->outputs > kMostFewOutputs || fewOutputsFunctions().lanes < kMostFewOutputs ||
      isFasterWithFewOutputs(*g)) {
    return std::nullopt;
  }
  return slower("is slower than packed_gemm for so few channels");
}

WinogradChoice chooseForm(const Geometry& geometry, const std::vector<int64_t>& size) {
  const Geometry& g = geometry;
  const int64_t lanes = winogradFunctions(WinogradForm::kSmall).lanes;
  if (g.outputs < 2 * lanes) {
    return {};  // products of a single vector wait for each multiply-add
  }
  const double plain = 9 * std::max(static_cast<double>(size[0] * size[2] * size[3]), leastRows(lanes));
  if (g.stride[1] == 2) {
    return {costOf(WinogradForm::kStrided, g, size, lanes) <= 0.95 * plain, WinogradForm::kStrided};
  }
  const double small = costOf(WinogradForm::kSmall, g, size, lanes);
  const double large = costOf(WinogradForm::kLarge, g, size, lanes);
  return {std::min(small, large) <= 0.9 * plain, small <= large ? WinogradForm::kSmall : WinogradForm::kLarge};
}

std::optional<Refusal> leaveWinograd(const Problem& problem) {
  const std::optional<Geometry> g = geometryOf(describe(problem));
  if (!g || !isWinogradShape(*g) || chooseForm(geometryOfGroup(*g, 0), problem.outputs[0].opt_dims).pays) {
    return std::nullopt;
  }
  return slower("is slower than others for few channels or a small image");
}

// By measurement (two cores, AVX-512): with a deep kernel, oneDNN's blocking over the depth wins by 15 to 20 %; with
// groups by 20 to 50 %; for the first layer of an image network, its kernel of its own by half. But not if that halves
// the image and computes silu, for which oneDNN takes 1.0 to 1.6 times as long with vectors of AVX2 or AVX-512. Nor if
// what a line of the output reads lies multiples of 4 KiB apart, in one set of the first-level cache: with AVX-512,
// whose tiles are long, oneDNN takes 1.1 to 1.7 times as long then; and not for lines of one pixel (2 times). It has no
// float64.
std::optional<Refusal> leavePackedGemm(const Problem& problem) {
#ifdef TORCHTRT_NO_ONEDNN
  (void)problem;
#else
  const std::optional<Geometry> g = geometryOf(describe(problem));
  if (g && isFasterInOneDnn(problem, *g)) {
    return slower("is slower than onednn for a kernel of this size");
  }
#endif
  return std::nullopt;
}

}  // namespace torchtrt::kernels::convolution
