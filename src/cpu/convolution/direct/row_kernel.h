// The kernel of a convolution that goes row by row (row.h), except for what it prepares: it packs its weights so that
// they can be restored, and reads images in any place as long as their channels are neighbours.
#pragma once

#include <memory>
#include <utility>

#include "cpu/convolution/direct/row.h"
#include "kernels/restores.h"

namespace torchtrt::kernels::convolution {

// Packed: PackedRows and what the convolution adds. visitWeights(packed, body) beside it calls body(place in the
// layer's weights, place in the packed ones) for each weight.
template <typename Packed>
class RowKernel : public Kernel, public RestoresConstants {
 public:
  explicit RowKernel(std::shared_ptr<const Packed> packed) : packed_(std::move(packed)) {}

  bool needsConstant(int input) const override {
    return input != 1;
  }
  size_t packedBytes() const override {
    return packed_->bytes;
  }
  bool restores(int input) const override {
    return input == 1;
  }
  void restore(int, void* to, int) const override {
    auto* weights = static_cast<float*>(to);
    visitWeights(*packed_, [&](int64_t plain, int64_t place) { weights[plain] = packed_->weights.get()[place]; });
  }
  bool acceptsStrides(int input, const TensorDesc& desc) const override {
    return input == 0 && desc.strides[1] == 1;
  }

 protected:
  const std::shared_ptr<const Packed>& packed() const {
    return packed_;
  }

 private:
  std::shared_ptr<const Packed> packed_;
};

}  // namespace torchtrt::kernels::convolution
