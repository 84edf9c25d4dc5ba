// The kernels of a Winograd convolution and the products with them. They are held plain: small ones once more in the
// form, which is four times as large, and large ones brought to it block by block in the second-level cache, in every
// call: for 16 tiles that is an eighth more arithmetic, and a quarter of the memory is read.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/convolution/geometry.h"
#include "cpu/convolution/winograd/winograd_form.h"
#include "cpu/convolution/winograd/winograd_tile.h"
#include "cpu/gemm/packed_gemm.h"

namespace torchtrt::kernels::convolution {

// Tiles in the form, and where their products go: value or product i begins at i steps, tiles lie next to each other.
struct WinogradProducts {
  int64_t tiles;
  const float* patches;
  int64_t patch_step;
  float* products;
  int64_t product_step;
};

class WinogradKernels {
 public:
  WinogradKernels(WinogradForm form, const Geometry& geometry, const WinogradFunctions& functions, int threads);

  static bool areLarge(const WinogradSizes& sizes, const Geometry& geometry);

  // [channels * kWinogradTaps, outputs]
  const gemm::PackedB& plain() const {
    return plain_;
  }
  size_t formedBytes() const;
  // Held plain alone: a chunk of tiles is multiplied by all threads, others by one thread each.
  bool areLarge() const {
    return formed_ == nullptr;
  }
  // Returns the scratch floats of each thread that multiplies with large filters.
  int64_t scratchFloats() const;

  void multiplySmall(const WinogradProducts& products) const;
  // Sums do not depend on the number of threads. scratch: scratchFloats() for each.
  void multiplyLarge(const WinogradProducts& products, float* scratch, int threads) const;

 private:
  using Panel = gemm::PackedB::Panel;

  void bringToForm(int threads);
  const Panel& panelOf(int64_t index) const {
    return plain_.panels()[static_cast<size_t>(index)];
  }
  int64_t widthOf(const Panel& panel) const {
    return panel.vectors * functions_.lanes;
  }
  int64_t kernelStep() const;
  gemm::Slab slabOf(const WinogradProducts& products) const;

  // Pairs of lines in panels, one after another: all pairs of a panel, or all panels of a pair.
  struct Units {
    int64_t begin;
    int64_t end;
    bool by_panel;
  };

  // Some channels of one unit.
  struct Block {
    int64_t panel;
    int64_t pair;
    int64_t channel;
    int64_t channels;
    const float* next;    // null, or what is fetched meanwhile
    int64_t fetch_parts;  // of which this pair fetches its own
  };

  void multiplyUnits(const WinogradProducts& products, const Units& units, float* scratch) const;
  void multiplyBlock(const WinogradProducts& products, const Block& block, float* scratch) const;
  // Returns the begin of a channel's plain filters.
  const float* startOf(int64_t panel, int64_t channel) const {
    return panelOf(panel).data + channel * kWinogradTaps * widthOf(panelOf(panel));
  }

  WinogradSizes sizes_;
  int64_t channels_;
  int64_t outputs_;
  WinogradFunctions functions_;
  gemm::Functions gemm_;
  gemm::Epilogue none_;
  std::array<int64_t, kMostPatch> places_{};  // of a product's kernel among those that pairs of lines make
  std::array<int64_t, kMostKernelLines / 2> products_of_{};  // those of a pair
  std::vector<int64_t> run_offsets_;  // of channels that are summed together, before the sums of runs are
  gemm::PackedB plain_;
  std::shared_ptr<float> formed_;     // null where kernels are large
  std::vector<Panel> formed_panels_;  // of kernel 0, of kernel 1, ...
};

}  // namespace torchtrt::kernels::convolution
