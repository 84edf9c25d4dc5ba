// Prepared kernels of pointwise layers share this: the loop over blocks of the output, or of a piece of it.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cpu/loops/loop_nest.h"
#include "cpu/loops/strided_loop.h"
#include "kernels/fusion.h"

namespace torchtrt::kernels::pointwise {

// Derived has a member runBlock(args, block) const for blocks of at most kBlock elements, so that operands and result
// stay in the first-level cache. Tensor 0 of the nest is the output, then come the operands. Its member what() const is
// the layer's arithmetic except for the steps; without an op where it does not count as such.
template <typename Derived, int64_t kBlock>
class OverBlocks : public Prepared, public RunsPieces, public ComputesInRegisters {
 public:
  OverBlocks(const ShapeSet& shapes, size_t operands) : nest_(nestOf(shapes, operands)), operands_(operands) {}

  void run(const RunArgs& args) const final {
    nest_.run(args.threads, kBlock, kGrain, [&](const LoopNest::Block& block) { self().runBlock(args, block); });
  }
  void runPiece(const RunArgs& args, int64_t begin, int64_t end) const final {
    nest_.runPiece(begin, end, kBlock, [&](const LoopNest::Block& block) { self().runBlock(args, block); });
  }
  bool hasDenseOutput() const final {
    return nest_.isDense();
  }
  std::optional<Arithmetic> arithmetic() const final {
    Arithmetic what = self().what();
    bool fits = !what.op.empty() && nest_.isOneRow() && steps()[0] == 1;
    for (size_t i = 0; i < operands_; ++i) {
      what.steps[i] = steps()[i + 1];
      fits = fits && (what.steps[i] == 0 || what.steps[i] == 1);
    }
    return fits ? std::optional(std::move(what)) : std::nullopt;
  }

 protected:
  // Strides along the rows of blocks.
  const LoopNest::Strides& steps() const {
    return nest_.steps();
  }

 private:
  static constexpr int64_t kGrain = 16384;  // elements worth a thread

  static LoopNest nestOf(const ShapeSet& shapes, size_t operands) {
    const TensorDesc& out = shapes.outputs[0];
    std::vector<std::vector<int64_t>> strides = {out.strides};
    for (size_t i = 0; i < operands; ++i) {
      strides.push_back(broadcastStrides(shapes.inputs[i], out.dims));
    }
    return {out.dims, strides};
  }

  const Derived& self() const {
    return static_cast<const Derived&>(*this);
  }

  LoopNest nest_;
  size_t operands_;
};

}  // namespace torchtrt::kernels::pointwise
