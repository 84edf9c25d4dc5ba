#include "kernels/convolution/winograd_form.h"

#include <algorithm>
#include <array>
#include <limits>

#include "kernels/convolution/winograd_tile.h"
#include "kernels/parallel.h"

namespace torchtrt::kernels::convolution {
namespace {

// G: a kernel's line of three brought to the points of the form.
using Row = std::array<double, 3>;
constexpr double kRoot = 1.41421356237309504880;
constexpr std::array<Row, 4> kSmall = {{{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}}};
constexpr std::array<Row, 6> kLarge = {{{1, 0, 0},
                                        {-2. / 3, -kRoot / 3, -1. / 3},
                                        {-2. / 3, kRoot / 3, -1. / 3},
                                        {1. / 6, kRoot / 6, 1. / 3},
                                        {1. / 6, -kRoot / 6, 1. / 3},
                                        {0, 0, 1}}};
// Outputs of stride 2 read every other pixel by the outer two taps, which is F(2, 2), and those between by the middle.
constexpr std::array<Row, 4> kStrided = {{{1, 0, 0}, {1, 0, 1}, {0, 0, 1}, {0, 1, 0}}};

const Row* rowsOf(WinogradForm form) {
  switch (form) {
    case WinogradForm::kSmall:
      return kSmall.data();
    case WinogradForm::kLarge:
      return kLarge.data();
    case WinogradForm::kStrided:
      break;
  }
  return kStrided.data();
}

double dot(const Row& row, double a, double b, double c) {
  return row[0] * a + row[1] * b + row[2] * c;
}

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

// In multiply-adds per channel and output.
double costOf(WinogradForm form, const Geometry& g, const std::vector<int64_t>& size, double least_rows) {
  constexpr int64_t kMostKernels = int64_t{32} << 20;  // floats: they are kept, and once more while they are packed
  const WinogradSizes sizes = sizesOf(form);
  if (sizes.kernels() * g.channels * g.outputs > kMostKernels) {
    return std::numeric_limits<double>::infinity();
  }
  const auto tiles = static_cast<double>(size[0] * tilesAlong(sizes.tile, size[2]) * tilesAlong(sizes.tile, size[3]));
  const double channels = 1.0 / static_cast<double>(g.channels) + 1.0 / static_cast<double>(g.outputs);
  return static_cast<double>(sizes.patch()) * std::max(tiles, least_rows) + tiles * transformsOf(form) * channels;
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

std::vector<float> transformWeights(WinogradForm form, const Geometry& geometry, int threads) {
  const Geometry& g = geometry;
  const Row* rows = rowsOf(form);
  const WinogradSizes sizes = sizesOf(form);
  std::vector<float> all(static_cast<size_t>(sizes.kernels() * g.channels * g.outputs));
  parallelFor(threads, 0, g.channels, 16, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      for (int64_t n = 0; n < g.outputs; ++n) {
        const float* w = g.weights + (n * g.channels + c) * kWinogradTaps;
        float* to = all.data() + c * g.outputs + n;
        for (int64_t y = 0; y < sizes.lines; ++y) {
          const Row line = {dot(rows[y], w[0], w[3], w[6]), dot(rows[y], w[1], w[4], w[7]),
                            dot(rows[y], w[2], w[5], w[8])};
          for (int64_t x = 0; x < sizes.lines; ++x) {
            *to = static_cast<float>(dot(rows[x], line[0], line[1], line[2]));
            to += g.channels * g.outputs;
          }
        }
      }
    }
  });
  return all;
}

// With few rows, products wait for kernels from memory: then larger kernels are a loss. The longer the vectors, the
// more rows a kernel has to serve.
WinogradChoice chooseForm(const Geometry& geometry, const std::vector<int64_t>& size) {
  const Geometry& g = geometry;
  const int64_t lanes = winogradFunctions(WinogradForm::kSmall).lanes;
  if (g.outputs < 2 * lanes) {
    return {};  // products of a single vector wait for each multiply-add
  }
  const double least_rows = 3.0 * static_cast<double>(lanes);
  const double plain = 9 * std::max(static_cast<double>(size[0] * size[2] * size[3]), least_rows);
  if (g.stride[1] == 2) {
    return {costOf(WinogradForm::kStrided, g, size, least_rows) <= 0.9 * plain, WinogradForm::kStrided};
  }
  const double small = costOf(WinogradForm::kSmall, g, size, least_rows);
  const double large = costOf(WinogradForm::kLarge, g, size, least_rows);
  return {std::min(small, large) <= 0.9 * plain, small <= large ? WinogradForm::kSmall : WinogradForm::kLarge};
}

}  // namespace torchtrt::kernels::convolution
