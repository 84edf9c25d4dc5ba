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
  const double products =
      std::max(static_cast<double>(sizes.patch()) * tiles, static_cast<double>(sizes.kernels()) * least_rows);
  return products + tiles * transformsOf(form) * channels;
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

device::Memory transformWeights(WinogradForm form, const Geometry& geometry, int threads) {
  constexpr int64_t kTogether = kWinogradVector;  // outputs
  using Values = std::array<double, kTogether>;
  const Geometry& g = geometry;
  const Row* rows = rowsOf(form);
  const int64_t lines = sizesOf(form).lines;
  const int64_t matrix = g.channels * g.outputs;
  device::Memory all = device::cpu().allocate(static_cast<size_t>(lines * lines * matrix) * sizeof(float),
                                              "transforming the kernels of a convolution");
  parallelFor(threads, 0, g.outputs / kTogether, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin * kTogether; n < end * kTogether; n += kTogether) {
      for (int64_t c = 0; c < g.channels; ++c) {
        std::array<Values, kWinogradTaps> w;
        for (size_t i = 0; i < kTogether; ++i) {
          const float* from = g.weights + ((n + static_cast<int64_t>(i)) * g.channels + c) * kWinogradTaps;
          for (size_t t = 0; t < kWinogradTaps; ++t) {
            w[t][i] = from[t];
          }
        }
        float* to = static_cast<float*>(all.data()) + c * g.outputs + n;
        for (int64_t y = 0; y < lines; ++y) {
          std::array<Values, 3> line;
          for (size_t x = 0; x < 3; ++x) {
            for (size_t i = 0; i < kTogether; ++i) {
              line[x][i] = dot(rows[y], w[x][i], w[x + 3][i], w[x + 6][i]);
            }
          }
          for (int64_t x = 0; x < lines; ++x, to += matrix) {
            for (size_t i = 0; i < kTogether; ++i) {
              to[i] = static_cast<float>(dot(rows[x], line[0][i], line[1][i], line[2][i]));
            }
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
  if (g.stride[1] == 2) {  // at 0.94 the gain is one eighth (512 channels, 7x7; AVX2)
    return {costOf(WinogradForm::kStrided, g, size, least_rows) <= 0.95 * plain, WinogradForm::kStrided};
  }
  const double small = costOf(WinogradForm::kSmall, g, size, least_rows);
  const double large = costOf(WinogradForm::kLarge, g, size, least_rows);
  return {std::min(small, large) <= 0.9 * plain, small <= large ? WinogradForm::kSmall : WinogradForm::kLarge};
}

}  // namespace torchtrt::kernels::convolution
