#include "cpu/convolution/winograd/winograd_form.h"

#include <algorithm>

#include "cpu/convolution/winograd/winograd_kernels.h"
#include "cpu/convolution/winograd/winograd_tile.h"

namespace torchtrt::kernels::convolution {
namespace {

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
  // By measurement (Zen 4 up to AVX2, one core): 256 channels of 14x14 outputs take 0.87 of oneDNN's time, 512 of 7x7
  // 1.2 of the plain sum's.
  return std::max(waiting, 200.0);
}

// With fewer, products wait for kernels from memory. The longer the vectors, the more rows a kernel has to serve.
double leastRows(int64_t lanes) {
  return 3.0 * static_cast<double>(lanes);
}

// In multiply-adds per channel and output.
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

int64_t WinogradSizes::kernelOf(int64_t product) const {
  return std::min(product / side, lines - 1) * lines + std::min(product % side, lines - 1);
}

WinogradSizes sizesOf(WinogradForm form) {
  switch (form) {
    case WinogradForm::kSmall:
      return {2, 4, 1, 4};
    case WinogradForm::kLarge:
      return {4, 6, 1, 6};
    case WinogradForm::kStrided:
      break;
  }
  return {2, 5, 2, 4};
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

}  // namespace torchtrt::kernels::convolution
