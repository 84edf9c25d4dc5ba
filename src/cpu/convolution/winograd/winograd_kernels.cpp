#include "cpu/convolution/winograd/winograd_kernels.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <span>

#include "cpu/threads/parallel.h"
#include "device/constants.h"

namespace torchtrt::kernels::convolution {
namespace {

// Filters of a layer up to this size, in the form, stay in the second or third level of the cache from one chunk of
// tiles to the next.
constexpr int64_t kLargeBytes = 2 * 1024 * 1024;

// Channels of a panel that are brought to the form together. Of 128, plain kernels for three vectors of eight outputs
// are 110 KiB, those that are fetched meanwhile as many again, and two lines of products 147 KiB: they share the
// second-level cache. Many tiles amortize reading kernels, few patches of many channels amortize reading sums.
constexpr int64_t kBlockChannels = 128;
constexpr int64_t kWideBlockChannels = 256;
constexpr int64_t kManyTiles = 32;

// Patches of a block of channels up to here stay in the second-level cache with the kernels.
constexpr int64_t kFewPatchBytes = 224 * 1024;

constexpr int kMostThreads = 64;  // bits of a word that says which parts of the scratch memory are free

constexpr auto kFloat = static_cast<int64_t>(sizeof(float));

// Returns how many channels' products are summed before these sums are. F(4x4) amplifies what sums round off. PyTorch's
// sums of few channels round off little, so there the runs are shorter.
int64_t runOf(const WinogradSizes& sizes, int64_t channels) {
  if (sizes.tile == 4 && channels <= 2 * kWinogradVector) {
    return kWinogradVector / 2;
  }
  return channels % (2 * kWinogradVector) == 0 ? 2 * kWinogradVector : kWinogradVector;
}

}  // namespace

bool WinogradKernels::areLarge(const WinogradSizes& sizes, const Geometry& g) {
  return sizes.kernels() * g.channels * g.outputs * kFloat > kLargeBytes;
}

WinogradKernels::WinogradKernels(WinogradForm form, const Geometry& g, const WinogradFunctions& functions, int threads)
    : sizes_(sizesOf(form)),
      channels_(g.channels),
      outputs_(g.outputs),
      functions_(functions),
      gemm_(gemm::functions()),
      plain_(
          kWinogradTaps * g.channels, g.outputs, kWinogradTaps * g.channels, [&](int64_t k) { return g.weights + k; },
          threads) {
  for (int64_t product = 0; product < sizes_.patch(); ++product) {
    const int64_t kernel = sizes_.kernelOf(product);
    for (int64_t pair = 0; pair < sizes_.lines / 2; ++pair) {
      const WinogradLinePair& lines = functions_.pairs[static_cast<size_t>(pair)];
      for (int64_t i = 0; i < 2; ++i) {
        if ((i == 0 ? lines.first : lines.second) == kernel / sizes_.lines) {
          ++products_of_[static_cast<size_t>(pair)];
          places_[static_cast<size_t>(product)] = (2 * pair + i) * sizes_.lines + kernel % sizes_.lines;
        }
      }
    }
  }
  const int64_t run = runOf(sizes_, g.channels);
  for (int64_t c = 0; c < g.channels; c += run) {
    run_offsets_.push_back(c);
  }
  if (!areLarge(sizes_, g)) {
    bringToForm(threads);
  }
}

size_t WinogradKernels::formedBytes() const {
  return areLarge() ? 0 : static_cast<size_t>(sizes_.kernels() * channels_ * outputs_ * kFloat);
}

void WinogradKernels::bringToForm(int threads) {
  const int64_t matrix = channels_ * outputs_;
  formed_ = std::static_pointer_cast<float>(device::allocateConstant(
      static_cast<size_t>(sizes_.kernels() * matrix * kFloat), "transforming the kernels of a convolution"));
  for (int64_t i = 0; i < sizes_.kernels(); ++i) {
    for (Panel panel : plain_.panels()) {
      panel.data = formed_.get() + i * matrix + panel.column * channels_;
      formed_panels_.push_back(panel);
    }
  }
  parallelFor(threads, 0, static_cast<int64_t>(plain_.panels().size()), 1, [&](int64_t begin, int64_t end) {
    for (; begin < end; ++begin) {
      const Panel& panel = panelOf(begin);
      for (int64_t pair = 0; pair < sizes_.lines / 2; ++pair) {
        float* to = formed_.get() + 2 * sizes_.lines * pair * matrix + panel.column * channels_;
        functions_.pairs[static_cast<size_t>(pair)].transform({panel.data, to, matrix, channels_, panel.vectors});
      }
    }
  });
}

// Sums over the whole depth, of all columns.
gemm::Slab WinogradKernels::slabOf(const WinogradProducts& products) const {
  gemm::Slab slab{};
  slab.rows = products.tiles;
  slab.a_stride = channels_;
  slab.run = channels_ / static_cast<int64_t>(run_offsets_.size());
  slab.taps = static_cast<int64_t>(run_offsets_.size());
  slab.tap_offsets = run_offsets_.data();
  slab.out_stride = outputs_;
  slab.epilogue = &none_;
  return slab;
}

void WinogradKernels::multiplySmall(const WinogradProducts& products) const {
  const auto count = plain_.panels().size();
  const auto panels = [&](int64_t product) {
    return std::span(formed_panels_).subspan(static_cast<size_t>(places_[static_cast<size_t>(product)]) * count, count);
  };
  gemm::Slab slab = slabOf(products);
  for (int64_t product = 0; product < sizes_.patch(); ++product) {
    slab.panels = panels(product);
    slab.a = products.patches + product * products.patch_step;
    slab.out = products.products + product * products.product_step;
    slab.ahead = product + 1 < sizes_.patch() ? panels(product + 1).front().data : nullptr;
    gemm_.slab_of_short_sums(slab);
  }
}

// Returns the distance from one filter of a line to the next. It is no multiple of a page, for the first-level cache's
// sake.
int64_t WinogradKernels::kernelStep() const {
  return std::min(kWideBlockChannels, channels_) * widthOf(plain_.panels().front()) + kWinogradVector;
}

int64_t WinogradKernels::scratchFloats() const {
  return areLarge() ? 2 * sizes_.lines * kernelStep() : 0;
}

void WinogradKernels::multiplyLarge(const WinogradProducts& products, float* scratch, int threads) const {
  const auto panels = static_cast<int64_t>(plain_.panels().size());
  // Few patches stay where they are while kernels are read once; otherwise each pair's patches stay for all panels.
  const int64_t patch_bytes = sizes_.patch() * products.tiles * std::min(channels_, kBlockChannels) * kFloat;
  const bool by_panel = patch_bytes <= kFewPatchBytes;
  const int most = std::min(threads, kMostThreads);
  std::atomic<uint64_t> free = ~uint64_t{0};
  parallelFor(most, 0, sizes_.lines / 2 * panels, 1, [&](int64_t unit, int64_t last) {
    uint64_t bits = free.load();
    while (!free.compare_exchange_weak(bits, bits & (bits - 1))) {
    }
    const int own = std::countr_zero(bits);
    multiplyUnits(products, {unit, last, by_panel}, scratch + own * scratchFloats());
    free.fetch_or(bits & -bits);
  });
}

void WinogradKernels::multiplyUnits(const WinogradProducts& products, const Units& units, float* scratch) const {
  const auto panels = static_cast<int64_t>(plain_.panels().size());
  const int64_t pairs = sizes_.lines / 2;
  const auto panelIn = [&](int64_t unit) { return units.by_panel ? unit / pairs : unit % panels; };
  const int64_t most = products.tiles > kManyTiles ? kWideBlockChannels : kBlockChannels;
  for (int64_t channel = 0; channel < channels_; channel += most) {
    Block block{};
    block.channel = channel;
    block.channels = std::min(most, channels_ - channel);
    for (int64_t unit = units.begin; unit < units.end; ++unit) {
      block.panel = panelIn(unit);
      block.pair = units.by_panel ? unit % pairs : unit / panels;
      // A panel's pairs fetch the next panel together where they follow each other.
      const int64_t following = unit + (units.by_panel ? pairs : 1);
      block.next = following < units.end ? startOf(panelIn(following), channel) : nullptr;
      block.fetch_parts = units.by_panel ? pairs : 1;
      multiplyBlock(products, block, scratch);
    }
  }
}

void WinogradKernels::multiplyBlock(const WinogradProducts& products, const Block& block, float* scratch) const {
  const auto pair = static_cast<size_t>(block.pair);
  Panel panel = panelOf(block.panel);
  functions_.pairs[pair].transform(
      {startOf(block.panel, block.channel), scratch, kernelStep(), block.channels, panel.vectors});
  gemm::Slab slab = slabOf(products);
  slab.taps = block.channels / slab.run;
  const int64_t fetched = block.channels * kWinogradTaps * widthOf(panel) / (block.fetch_parts * products_of_[pair]);
  const float* ahead = block.next;
  if (block.fetch_parts > 1 && ahead != nullptr) {
    ahead += fetched * products_of_[pair] * block.pair;
  }
  for (int64_t product = 0; product < sizes_.patch(); ++product) {
    const int64_t place = places_[static_cast<size_t>(product)] - 2 * sizes_.lines * block.pair;
    if (place < 0 || place >= 2 * sizes_.lines) {
      continue;
    }
    panel.data = scratch + place * kernelStep();
    slab.panels = std::span(&panel, 1);
    slab.a = products.patches + product * products.patch_step + block.channel;
    slab.out = products.products + product * products.product_step;
    slab.residual = block.channel == 0 ? nullptr : slab.out;
    slab.ahead = ahead;
    slab.ahead_bytes = fetched * kFloat;
    gemm_.slab_of_short_sums(slab);
    ahead = ahead == nullptr ? nullptr : ahead + fetched;
  }
}

}  // namespace torchtrt::kernels::convolution
